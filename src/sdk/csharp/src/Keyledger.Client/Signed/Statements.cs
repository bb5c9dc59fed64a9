using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>A license that refuses an instance: the proof beside a refused validate.</summary>
internal sealed record Refusal(string LicenseKeyHash, string InstanceId, long IssuedAt, string Reason, JsonObject Signed);

/// <summary>Whom a statement is expected to be about.</summary>
internal sealed record Expected(Place Place, string LicenseKeyHash, string InstanceId);

/// <summary>Verifies leases of the first version, and refusals: fields whose joined text is signed.</summary>
internal static class Statements
{
    /// <summary>Verifies a lease of the first version.</summary>
    public static Checked<Lease> ReadLease(Json? value, Expected expected, IReadOnlyDictionary<string, string> keys, long now)
    {
        var record = value?.Record;
        var (expiresAt, status) = (record?["expiresAt"]?.Seconds, record?["status"]?.Field);
        var names = (record?["entitlements"] as JsonArray)?.Items.Select(one => one.Text).ToList();
        var isWhole = expiresAt is not null && status is not null && names is not null && names.All(IsEntitlement);
        var signed = isWhole ? new[] { Decimal(expiresAt!.Value), status!, string.Join(",", names!) } : null;
        if (DoubtOf("lease1", record, signed, expected, keys) is { } doubt) return doubt;
        var lease = new Lease(expected.LicenseKeyHash, expected.InstanceId, status!, record!["issuedAt"]!.Seconds!.Value, expiresAt!.Value)
        {
            Signed = record,
            Entitlements = names!.Select(name => new KeyValuePair<string, Json>(name!, new JsonFlag(true))).ToList(),
        };
        return now > lease.ExpiresAt ? Doubts.Over : lease;
    }

    /// <summary>Verifies a refusal. It has no end: a newer lease replaces it.</summary>
    public static Checked<Refusal> ReadRefusal(Json? value, Expected expected, IReadOnlyDictionary<string, string> keys)
    {
        var record = value?.Record;
        var reason = record?["reason"]?.Field;
        if (DoubtOf("refusal1", record, reason is null ? null : new[] { reason }, expected, keys) is { } doubt) return doubt;
        return new Refusal(expected.LicenseKeyHash, expected.InstanceId, record!["issuedAt"]!.Seconds!.Value, reason!, record);
    }

    /// <summary>Why a statement must not be believed; null when it was signed for whom it is expected to be about.</summary>
    private static string? DoubtOf(
        string kind, JsonObject? record, string[]? more, Expected expected, IReadOnlyDictionary<string, string> keys)
    {
        if (record?["kid"]?.Field is not { } kid || record["licenseKeyHash"]?.Field is not { } keyHash) return Doubts.Malformed;
        if (record["instanceId"]?.Field is not { } instanceId || record["issuedAt"]?.Seconds is not { } issuedAt) return Doubts.Malformed;
        if (record["signature"]?.Text is not { } signature || more is null) return Doubts.Malformed;
        if (keyHash != expected.LicenseKeyHash) return Doubts.AnotherLicense;
        if (instanceId != expected.InstanceId) return Doubts.AnotherInstance;
        if (!keys.TryGetValue(kid, out var key)) return Doubts.UnknownKey;
        var place = expected.Place;
        var parts = new[] { kind, kid, place.TenantId, place.ProductId, keyHash, instanceId, Decimal(issuedAt) }.Concat(more);
        var isSigned = Ed25519.IsSigned(Utf8.Of(string.Join("|", parts)), Base64.Bytes(signature), Base64.Bytes(key));
        return isSigned ? null : Doubts.BadSignature;
    }

    private static bool IsEntitlement(string? name)
    {
        if (name is not { Length: >= 1 and <= 64 }) return false;
        for (var at = 0; at < name.Length; at++)
        {
            if (name[at] is (>= 'a' and <= 'z') or (>= '0' and <= '9')) continue;
            if (at == 0 || name[at] is not ('.' or '_' or ':' or '-')) return false;
        }
        return true;
    }

    internal static string Decimal(long number) => number.ToString(CultureInfo.InvariantCulture);
}
