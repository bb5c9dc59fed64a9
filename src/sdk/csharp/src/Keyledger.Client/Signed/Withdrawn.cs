using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>A list of files that must not be used any more, with its token, which is verified again after it was stored.</summary>
internal sealed record Withdrawn(string Token, IReadOnlyList<string> Files, double Serial, long IssuedAt)
{
    /// <summary>Reads a list; null for what is none, or was not signed for this product.</summary>
    public static Withdrawn? Read(string? token, Place place, IReadOnlyDictionary<string, string> keys)
    {
        var assertion = $"keyledger:withdrawn1:{place.TenantId}:{place.ProductId}";
        if (Paseto.ReadStatement(Paseto.Parse(token), assertion, keys).Value is not { } read) return null;
        if (read.Claims["files"] is not JsonArray files || read.Claims["serial"] is not JsonNumber serial) return null;
        return Times.SecondsOf(read.Claims["iat"]) is { } issuedAt
            ? new Withdrawn(token!, files.Items.Select(one => one.Text!).Where(id => id is not null).ToList(), serial.Value, issuedAt)
            : null;
    }
}
