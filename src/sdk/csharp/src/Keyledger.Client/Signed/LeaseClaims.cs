using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>Reads the claims of a lease of the second version. Claims that are not known are ignored.</summary>
internal static class LeaseClaims
{
    /// <summary>The lease; null when a claim is missing or of another kind.</summary>
    public static Lease? From(JsonObject claims, string token)
    {
        var isPerpetual = claims["license_expires_at"] is JsonNull;
        var licenseExpiresAt = isPerpetual ? null : Times.SecondsOf(claims["license_expires_at"]);
        var updatesUntil = Times.SecondsOf(claims["updates_until"]);
        if (TextIn(claims["license_id"]) is null || TextIn(claims["license_key_hash"]) is not { } keyHash) return null;
        if (TextIn(claims["instance_id"]) is not { } instanceId || TextIn(claims["status"]) is not { } status) return null;
        if (Times.SecondsOf(claims["iat"]) is not { } issuedAt || Times.SecondsOf(claims["nbf"]) is not { } notBefore) return null;
        if (Times.SecondsOf(claims["exp"]) is not { } expiresAt || !IsDevice(claims["device"], out var device)) return null;
        if (!isPerpetual && licenseExpiresAt is null) return null;
        if (claims["updates_until"] is not null && updatesUntil is null) return null;
        if (claims["entitlements"]?.Record is not { } entitlements || claims["serial"]?.SafeInteger is not { } serial) return null;
        return new Lease(keyHash, instanceId, status, issuedAt, expiresAt)
        {
            Token = token,
            NotBefore = notBefore,
            Device = device,
            // Of an entitlement with a value of another kind, nothing is known.
            Entitlements = entitlements.Entries().Where(one => one.Value is JsonFlag or JsonNumber or JsonText).ToList(),
            LicenseExpiresAt = licenseExpiresAt,
            UpdatesUntil = updatesUntil,
            Holder = HolderIn(claims["holder"]?.Record),
            Serial = serial,
            File = TextIn(claims["file"]) is { } id && TextIn(claims["nonce"]) is { } nonce
                ? new FileTerms(id, nonce, claims["fence"] as JsonNumber)
                : null,
        };
    }

    private static string? TextIn(Json? value) => value?.Text is { Length: > 0 } text ? text : null;

    private static Holder? HolderIn(JsonObject? holder)
    {
        var (name, email) = (TextIn(holder?["name"]), TextIn(holder?["email"]));
        return name is null && email is null ? null : new Holder(name, email);
    }

    private static bool IsDevice(Json? value, out LeasedDevice? device)
    {
        device = null;
        if (value is null) return true;
        if (value.Record is not { } record) return false;
        if (record["machine_hash"] is not (null or JsonNull or JsonText)) return false;
        var parts = record["components"] is { } given ? given.Record : new JsonObject();
        if (parts is null) return false;
        var components = new Dictionary<string, string>();
        foreach (var part in parts.Entries())
        {
            if (TextIn(part.Value) is not { } text) return false;
            components[part.Key] = text;
        }
        device = new LeasedDevice(record["machine_hash"]?.Text, components);
        return true;
    }
}
