using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Facts;

/// <summary>The facts as one text, in the form of all clients. All signatures are verified again when it is read.</summary>
internal static class KnownText
{
    private const long Format = 1;

    /// <summary>The text to store.</summary>
    public static string Of(Known known) => JsonWriter.Write(JsonWriter.Object(
        ("format", JsonWriter.Of(Format)),
        ("installId", JsonWriter.Of(known.InstallId)),
        ("keys", JsonWriter.Of(known.Keys)),
        ("license", known.License is { } license ? Of(license) : null),
        ("left", JsonWriter.Of(known.Left)),
        ("settings", known.Settings is { } settings ? Of(settings) : null),
        ("trial", known.Trial is { } trial
            ? JsonWriter.Object(
                ("startedAt", JsonWriter.Of(trial.StartedAt)), ("used", JsonWriter.Of(trial.Used)),
                ("reported", JsonWriter.Of(trial.Reported)))
            : null),
        ("offline", known.Offline is { } offline ? Of(offline) : null),
        ("signedAt", JsonWriter.Of(known.SignedAt)),
        ("seen", JsonWriter.Of(known.Seen))));

    /// <summary>Reads what was stored; null when it is not usable at all.</summary>
    public static Known? Read(string? text, Place place, IReadOnlyDictionary<string, string> pinned)
    {
        if (JsonReader.Read(text)?.Record is not { } stored || stored["format"]?.SafeInteger != Format) return null;
        if (stored["installId"]?.Field is not { } installId) return null;
        if (stored["signedAt"]?.Seconds is not { } signedAt || stored["seen"]?.Seconds is not { } seen) return null;
        var keys = new Dictionary<string, string>();
        foreach (var entry in stored["keys"]?.Record?.Entries() ?? Enumerable.Empty<KeyValuePair<string, Json>>())
            if (entry.Value.Field is { } key) keys[entry.Key] = key;
        foreach (var pair in pinned) keys[pair.Key] = pair.Value;
        return new Known(installId, keys)
        {
            License = LicenseFrom(stored["license"]?.Record, place, keys),
            Left = stored["left"] is JsonArray left ? left.Items.Select(one => one.Field!).Where(one => one is not null).ToList() : [],
            Settings = SettingsFrom(stored["settings"]?.Record, place, keys),
            Trial = TrialFrom(stored["trial"]?.Record),
            Offline = OfflineFrom(stored["offline"]?.Record, place, keys),
            SignedAt = signedAt,
            Seen = seen,
        };
    }

    private static JsonObject Of(HeldLicense license) => JsonWriter.Object(
        ("key", JsonWriter.Of(license.Key)),
        ("instanceId", JsonWriter.Of(license.InstanceId)),
        ("proof", license.Proof?.Stored),
        ("expiresAt", JsonWriter.Of(license.ExpiresAt)),
        ("graceUntil", JsonWriter.Of(license.GraceUntil)),
        ("notCovered", license.NotCovered?.Stored),
        ("seat", license.Fence is { } fence ? JsonWriter.Object(("fence", JsonWriter.Of(fence))) : null),
        ("relay", JsonWriter.Of(license.Relay)),
        ("isAway", license.IsAway ? JsonWriter.Of(true) : null));

    private static JsonObject Of(HeldSettings settings) => JsonWriter.Object(
        ("freeTierEnabled", JsonWriter.Of(settings.FreeTierEnabled)),
        ("trialDurationDays", JsonWriter.Of(settings.TrialDurationDays)),
        ("signed", settings.Signed),
        ("issuedAt", JsonWriter.Of(settings.IssuedAt)),
        ("expiresAt", JsonWriter.Of(settings.ExpiresAt)));

    private static JsonObject Of(OfflineFacts offline) => JsonWriter.Object(
        ("seed", JsonWriter.Of(offline.Seed)),
        ("counter", JsonWriter.Of(offline.Counter)),
        ("asked", offline.Asked is { } asked
            ? JsonWriter.Object(
                ("nonce", JsonWriter.Of(asked.Nonce)), ("licenseKeyHash", JsonWriter.Of(asked.LicenseKeyHash)))
            : null),
        ("file", WithToken(offline.File?.Token)),
        ("withdrawn", WithToken(offline.Withdrawn?.Token)),
        ("released", JsonWriter.Of(offline.Released)));

    private static JsonObject? WithToken(string? token) =>
        token is null ? null : JsonWriter.Object(("token", JsonWriter.Of(token)));

    private static HeldLicense? LicenseFrom(JsonObject? stored, Place place, IReadOnlyDictionary<string, string> keys)
    {
        if (stored?["key"]?.Field is not { } key || stored["instanceId"]?.Field is not { } instanceId) return null;
        var expected = new Expected(place, LicenseKey.HashOf(key), instanceId);
        return new HeldLicense(key, instanceId)
        {
            Proof = Proof.Verify(stored["proof"], expected, keys).Value,
            ExpiresAt = stored["expiresAt"]?.Seconds,
            GraceUntil = stored["graceUntil"]?.Seconds,
            NotCovered = NotCovered.From(stored["notCovered"]),
            Fence = FenceIn(stored["seat"]),
            Relay = stored["relay"]?.Field,
            IsAway = stored["isAway"]?.Flag == true,
        };
    }

    /// <summary>The fence of the floating seat in an answer or in what was stored; null for a seat that lasts until it is given back.</summary>
    public static long? FenceIn(Json? seat) => seat?.Record?["fence"]?.Seconds;

    /// <summary>A trial length that was signed is taken from its signed answer, not from what stands beside it.</summary>
    private static HeldSettings? SettingsFrom(JsonObject? stored, Place place, IReadOnlyDictionary<string, string> keys)
    {
        if (stored?["freeTierEnabled"]?.Flag is not { } isFree) return null;
        if (stored["signed"]?.Record is not { } signed) return new HeldSettings(isFree, null, null, 0, 0);
        if (Settings.Verify(signed, place, keys, 0, false).Value is not { } settings) return null;
        if (signed["issued_at"]?.Seconds is not { } issuedAt || signed["expires_at"]?.Seconds is not { } expiresAt) return null;
        // After the signature is over, an unsigned answer may have changed the free tier alone.
        return stored["issuedAt"]?.SafeInteger == 0
            ? new HeldSettings(isFree, settings.TrialDurationDays, signed, 0, 0)
            : new HeldSettings(settings.FreeTierEnabled, settings.TrialDurationDays, signed, issuedAt, expiresAt);
    }

    private static Trial? TrialFrom(JsonObject? stored) => stored?["startedAt"]?.Seconds is { } startedAt
        ? new Trial(startedAt, stored["used"]?.Flag == true, stored["reported"]?.Flag == true)
        : null;

    private static OfflineFacts? OfflineFrom(JsonObject? stored, Place place, IReadOnlyDictionary<string, string> keys)
    {
        if (stored?["seed"]?.Text is not { Length: 64 } seed || !seed.All(one => one is (>= '0' and <= '9') or (>= 'a' and <= 'f')))
            return null;
        if (stored["counter"]?.Seconds is not { } counter || stored["released"]?.Seconds is not { } released) return null;
        var asked = stored["asked"]?.Record;
        var file = Lease.Read(stored["file"]?.Record?["token"]?.Text, place, keys).Value;
        return new OfflineFacts(seed)
        {
            Counter = counter,
            Released = released,
            Asked = asked?["nonce"]?.Field is { } nonce && asked["licenseKeyHash"]?.Field is { } hash ? new Asked(nonce, hash) : null,
            File = file?.File is null ? null : file,
            Withdrawn = Withdrawn.Read(stored["withdrawn"]?.Record?["token"]?.Text, place, keys),
        };
    }
}
