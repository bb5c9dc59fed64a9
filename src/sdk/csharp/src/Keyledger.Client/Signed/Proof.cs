using System.Collections.Generic;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>What the server has signed about the license on this device: a lease in either form, or a refusal.</summary>
internal sealed record Proof(Lease? Lease, Refusal? Refusal)
{
    public string LicenseKeyHash => Lease?.LicenseKeyHash ?? Refusal!.LicenseKeyHash;

    public string InstanceId => Lease?.InstanceId ?? Refusal!.InstanceId;

    public long IssuedAt => Lease?.IssuedAt ?? Refusal!.IssuedAt;

    public long Serial => Lease?.Serial ?? 0;

    /// <summary>What is stored of it, and verified again.</summary>
    public Json Stored => Lease?.Token is { } token
        ? JsonWriter.Object(("token", JsonWriter.Of(token)))
        : Lease?.Signed ?? Refusal!.Signed;

    /// <summary>How much it takes away: of the same second, the one that grants less counts.</summary>
    public int Strictness => Lease?.Status switch { null => 3, "active" => 0, "fallback" => 1, _ => 2 };

    /// <summary>
    /// Verifies a token, or a lease or refusal as it was sent or stored. Whether a lease is over is decided with the state. A license
    /// file is no proof: it is taken only by the device that asked for it.
    /// </summary>
    public static Checked<Proof> Verify(Json? value, Expected expected, IReadOnlyDictionary<string, string> keys)
    {
        var record = value?.Record;
        if ((record?["token"] is { } inside ? inside.Text : value?.Text) is { } token)
        {
            var read = Lease.Read(token, expected.Place, keys);
            if (read.Value is not { } lease) return read.Doubt!;
            if (lease.File is not null) return Doubts.Malformed;
            if (lease.LicenseKeyHash != expected.LicenseKeyHash) return Doubts.AnotherLicense;
            return lease.InstanceId == expected.InstanceId ? new Proof(lease, null) : Doubts.AnotherInstance;
        }
        if (record?["reason"] is not null)
        {
            var refused = Statements.ReadRefusal(value, expected, keys);
            return refused.Value is { } refusal ? new Proof(null, refusal) : refused.Doubt!;
        }
        var found = Statements.ReadLease(value, expected, keys, 0);
        return found.Value is { } first ? new Proof(first, null) : found.Doubt!;
    }
}
