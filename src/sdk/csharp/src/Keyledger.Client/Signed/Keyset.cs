using System;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>The public keys that a server publishes.</summary>
internal static class Keyset
{
    /// <summary>A kid is the beginning of the hash of its key, so a key that was damaged on the way is recognized.</summary>
    public static bool IsKeyOf(string kid, string? key) =>
        key is not null && Base64.AnyBytes(key) is { Length: 32 } bytes
        && string.Equals(Hex.Of(Sha256.Of(bytes)).Substring(0, 16), kid, StringComparison.Ordinal);
}
