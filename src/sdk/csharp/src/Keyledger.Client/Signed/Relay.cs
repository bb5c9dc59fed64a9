using System.Collections.Generic;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>
/// Leases that a relay has signed, over a chain of exactly two: the tenant's key signed the certificate in the footer, and the
/// certified key signed the lease. A lease that says more than its certificate is refused like one with a wrong signature.
/// </summary>
internal static class Relay
{
    /// <summary>What a lease has to have in common with its certificate; what is absent in one is absent in the other.</summary>
    private static readonly string[] shared =
        { "license_id", "license_key_hash", "status", "license_expires_at", "updates_until" };

    /// <summary>Reads the lease of a relay, whose footer has this certificate.</summary>
    public static Checked<SignedClaims> Read(
        Paseto token, string assertion, Json certificate, Place place, IReadOnlyDictionary<string, string> keys)
    {
        var asserted = $"keyledger:relay1:{place.TenantId}:{place.ProductId}";
        var certified = Paseto.ReadStatement(Paseto.Parse(certificate.Text), asserted, keys);
        if (certified.Value is not { } allowed) return certified.Doubt!;
        if (allowed.Claims["pk"]?.Text is not { } key || allowed.Claims["relay_id"]?.Text is not { } relay)
            return Doubts.Malformed;
        var read = token.ReadSigned(assertion, Base64.UrlBytes(key));
        if (read.Value is not { } claims) return read.Doubt!;
        return IsWithin(claims, allowed.Claims) ? new SignedClaims(allowed.Kid, claims, relay) : Doubts.BadSignature;
    }

    private static bool IsWithin(JsonObject lease, JsonObject certificate)
    {
        foreach (var name in shared)
            if (!Json.IsSame(lease[name], certificate[name])) return false;
        if (lease["entitlements"]?.Record is not { } granted || certificate["entitlements"]?.Record is not { } allowed)
            return false;
        foreach (var entry in granted.Entries())
            if (!Json.IsSame(allowed[entry.Key], entry.Value)) return false;
        // RFC 3339 in UTC and whole seconds sorts as text; any other spelling is refused with the lease itself.
        return lease["exp"]?.Text is { } end && certificate["exp"]?.Text is { } last
            && string.CompareOrdinal(end, last) <= 0
            // A relay gives neither license files nor allowances: the vendor's server counts both.
            && lease["file"] is null && lease["allowance"] is null;
    }
}
