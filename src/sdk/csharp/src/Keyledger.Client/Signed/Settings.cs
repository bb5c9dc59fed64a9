using System.Collections.Generic;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>The verified settings. An absent trial length was never configured; 0 means that trials are off.</summary>
internal sealed record Settings(bool FreeTierEnabled, long? TrialDurationDays)
{
    /// <summary>Fields that only signed settings have.</summary>
    internal static readonly string[] SignedWith = { "kid", "issued_at", "expires_at", "signature" };

    /// <summary>
    /// Verifies the settings in an answer. A trial length must be signed; unsigned settings only carry the free tier, and with
    /// <paramref name="enforce"/> not even that.
    /// </summary>
    public static Checked<Settings> Verify(
        Json? answer, Place place, IReadOnlyDictionary<string, string> keys, long now, bool enforce)
    {
        if (answer?.Record is not { } record || record["free_tier_enabled"]?.Flag is not { } isFree) return Doubts.Malformed;
        if (record["trial_duration_days"] is not { } length)
        {
            foreach (var name in SignedWith)
                if (record[name] is not null) return Doubts.Malformed;
            return enforce ? Doubts.Unsigned : new Settings(isFree, null);
        }
        if (record["kid"] is null || record["signature"] is null) return Doubts.Unsigned;
        if (record["kid"]!.Field is not { } kid || record["signature"]!.Text is not { } signature) return Doubts.Malformed;
        if (length.Seconds is not { } days || record["issued_at"]?.Seconds is not { } issuedAt) return Doubts.Malformed;
        if (record["expires_at"]?.Seconds is not { } expiresAt) return Doubts.Malformed;
        if (!keys.TryGetValue(kid, out var key)) return Doubts.UnknownKey;
        var text = string.Join(
            "|", "cfg1", kid, place.TenantId, place.ProductId, Statements.Decimal(issuedAt), Statements.Decimal(expiresAt),
            Statements.Decimal(days), isFree ? "true" : "false");
        if (!Ed25519.IsSigned(Utf8.Of(text), Base64.Bytes(signature), Base64.Bytes(key))) return Doubts.BadSignature;
        return now > expiresAt ? Doubts.Over : new Settings(isFree, days);
    }
}
