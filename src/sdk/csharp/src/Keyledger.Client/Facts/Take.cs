using System;
using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Facts;

/// <summary>
/// What became of an answer: <c>fresh</c> and <c>same</c> show that the server was reached, <c>stale</c> is an older answer, and anything
/// else is why it was not taken.
/// </summary>
internal readonly record struct Taken(Known Known, string As)
{
    public const string Fresh = "fresh";
    public const string Same = "same";
    public const string Stale = "stale";

    /// <summary>Whether it is as new as what is held.</summary>
    public static bool IsNew(string taken) => taken is Fresh or Same;
}

/// <summary>What each answer does to the facts.</summary>
internal static class Take
{
    /// <summary>Takes the lease or the refusal of an answer, if it is genuine and newer than what is held.</summary>
    public static Taken Proof(Known known, Json? answer, HeldLicense asked, Place place, long now)
    {
        var body = answer?.Record ?? new JsonObject();
        var expected = new Expected(place, LicenseKey.HashOf(asked.Key), asked.InstanceId);
        var found = Signed.Proof.Verify(Given(body["refusal"]) ?? Given(body["lease2"]) ?? body["lease"], expected, known.Keys);
        if (found.Value is not { } proof) return new Taken(known, found.Doubt!);
        var held = known.License?.InstanceId == asked.InstanceId && known.License.Key == asked.Key ? known.License : null;
        var age = AgeOf(proof, held?.Proof, known);
        if (age != Taken.Fresh) return new Taken(known, age);
        var license = new HeldLicense(asked.Key, asked.InstanceId)
        {
            Proof = proof,
            ExpiresAt = body["license_expires_at"]?.Seconds,
            GraceUntil = body["grace_until"]?.Seconds,
            // Who was refused still had a floating seat, and may take another.
            Fence = KnownText.FenceIn(body["seat"]) ?? (proof.Refusal is null ? null : held?.Fence),
            Relay = asked.Relay,
        };
        var signedAt = Math.Max(known.SignedAt, proof.IssuedAt);
        var isLater = proof.Refusal is null && proof.IssuedAt > (held?.Proof?.IssuedAt ?? -1);
        return new Taken(
            known with
            {
                License = license,
                Left = signedAt > known.SignedAt ? Array.Empty<string>() : LeftBy(known, asked.InstanceId),
                Offline = held is null ? OfflineWithout(known) : known.Offline,
                SignedAt = signedAt,
                Seen = Math.Max(Math.Max(proof.IssuedAt, now), isLater ? 0 : known.Seen),
            },
            age);
    }

    /// <summary>Notes what the server says of a build that the license does not cover. Unsigned, it changes nothing else.</summary>
    public static Known BuildNotCovered(Known known, Json? answer) => known.License is { } license
        ? known with { License = license with { NotCovered = NotCovered.In(answer) } }
        : known;

    /// <summary>Takes the settings of an answer: unsigned ones only for the free tier, and not while signed ones are valid.</summary>
    public static Taken Settings(Known known, Json? answer, Place place, long now, bool enforce)
    {
        // By the clock as it is now: a time that was seen while it was wrong by years would refuse all settings after it.
        var verified = Signed.Settings.Verify(answer, place, known.Keys, now, enforce);
        if (verified.Value is not { } settings) return new Taken(known, verified.Doubt!);
        var held = known.Settings;
        if (settings.TrialDurationDays is not { } days)
        {
            if (held is not null && held.ExpiresAt >= known.TimeAt(now)) return new Taken(known, Taken.Stale);
            var free = held is null
                ? new HeldSettings(settings.FreeTierEnabled, null, null, 0, 0)
                : held with { FreeTierEnabled = settings.FreeTierEnabled, IssuedAt = 0, ExpiresAt = 0 };
            return With(known, free, now);
        }
        var record = answer!.Record!;
        var (issuedAt, expiresAt) = (record["issued_at"]!.Seconds!.Value, record["expires_at"]!.Seconds!.Value);
        if (held is not null && issuedAt < held.IssuedAt) return new Taken(known, Taken.Stale);
        var signed = JsonWriter.Object(
            ("trial_duration_days", record["trial_duration_days"]), ("free_tier_enabled", record["free_tier_enabled"]));
        foreach (var name in Signed.Settings.SignedWith) signed[name] = record[name];
        return With(known, new HeldSettings(settings.FreeTierEnabled, days, signed, issuedAt, expiresAt), now);
    }

    /// <summary>Begins the trial of this machine, unless one was begun before.</summary>
    public static Known BeginTrial(Known known, long now) =>
        known with { Trial = known.Trial ?? new Trial(known.TimeAt(now), false, false) };

    /// <summary>Takes what the server knows of the trial of this machine. Fields that are absent mean that it has no opinion.</summary>
    public static Known Trial(Known known, Json? answer)
    {
        if (known.Trial is not { } trial || answer?.Record is not { } record) return known;
        var startedAt = record["trial_started_at"]?.Seconds ?? trial.StartedAt;
        return known with { Trial = new Trial(startedAt, record["trial_already_used"]?.Flag ?? trial.Used, true) };
    }

    /// <summary>Takes a text that was carried to the device: the file that answers its last request, or a list of withdrawn files.</summary>
    public static Taken Carried(Known given, string token, Place place, LeasedDevice? device, long now)
    {
        var known = given.WithOffline();
        var offline = known.Offline!;
        if (Withdrawn.Read(token, place, known.Keys) is { } list)
        {
            if (offline.Withdrawn?.Serial > list.Serial) return new Taken(known, Doubts.Outdated);
            var listed = known with { Offline = offline with { Withdrawn = list }, Seen = Math.Max(known.Seen, list.IssuedAt) };
            return new Taken(listed, Taken.Fresh);
        }
        var read = Lease.Read(token, place, known.Keys);
        if (read.Value is not { } file) return new Taken(known, read.Doubt!);
        if (DoubtOf(file, token, offline, device, now) is { } doubt) return new Taken(known, doubt);
        var signedAt = Math.Max(known.SignedAt, file.IssuedAt);
        return new Taken(
            known with
            {
                Offline = offline with { File = file, Asked = null },
                SignedAt = signedAt,
                Left = signedAt > known.SignedAt ? Array.Empty<string>() : known.Left,
                Seen = Math.Max(file.IssuedAt, now),
            },
            Taken.Fresh);
    }

    private static string? DoubtOf(Lease file, string token, OfflineFacts offline, LeasedDevice? device, long now)
    {
        if (file.File is not { } terms) return Doubts.Malformed;
        if (!offline.IsForMachine(file, device)) return Doubts.AnotherDevice;
        if (file.Serial <= offline.Released) return Doubts.Outdated;
        if (token == offline.File?.Token) return Taken.Same;
        if (terms.Nonce != offline.Asked?.Nonce || file.LicenseKeyHash != offline.Asked.LicenseKeyHash) return Doubts.NotAsked;
        if (now < file.NotBefore) return Doubts.NotYet;
        return now > file.ExpiresAt ? Doubts.Over : null;
    }

    /// <summary>Notes that the floating seat is given back: its lease does not count any more, and the license stays.</summary>
    public static Known SeatBack(Known known) => known.License is { } license
        ? known with { License = license with { Proof = null, Fence = null, IsAway = true } }
        : known;

    /// <summary>Gives an instance up: neither a lease nor a file for it counts any more.</summary>
    public static Known Leave(Known known, string instanceId)
    {
        var isHeld = known.License?.InstanceId == instanceId;
        var offline = isHeld ? OfflineWithout(known) : known.Offline;
        if (offline?.Usable is { } file && file.InstanceId == instanceId) offline = offline with { Released = file.Serial };
        return isHeld
            ? known with { License = null, Left = LeftBy(known, null), Offline = offline }
            : known with { Offline = offline };
    }

    private static Json? Given(Json? value) => value is JsonNull ? null : value;

    /// <summary>When the license is forgotten or replaced, a file that it has taken away stays so.</summary>
    private static OfflineFacts? OfflineWithout(Known known) =>
        known.Offline?.Usable is { } file && known.License?.Proof is { } proof && StateOf.TakesAway(proof, file)
            ? known.Offline with { Released = file.Serial }
            : known.Offline;

    /// <summary>The instances that are given up when this one is held.</summary>
    private static IReadOnlyList<string> LeftBy(Known known, string? instanceId) =>
        known.License is { } license && license.InstanceId != instanceId
            ? known.Left.Concat(new[] { license.InstanceId }).ToList()
            : known.Left;

    private static string AgeOf(Proof offered, Proof? held, Known known)
    {
        if (held is null)
        {
            var isOld = offered.IssuedAt == known.SignedAt && known.Left.Contains(offered.InstanceId);
            return isOld || offered.IssuedAt < known.SignedAt ? Taken.Stale : Taken.Fresh;
        }
        if (offered.IssuedAt != held.IssuedAt) return offered.IssuedAt > held.IssuedAt ? Taken.Fresh : Taken.Stale;
        if (offered.Strictness == held.Strictness) return offered.Serial > held.Serial ? Taken.Fresh : Taken.Same;
        return offered.Strictness > held.Strictness ? Taken.Fresh : Taken.Stale;
    }

    /// <summary>Without a license, newer settings begin the observation of the clock anew, as a newer lease does.</summary>
    private static Taken With(Known known, HeldSettings settings, long now)
    {
        var isNewer = known.License is null && settings.IssuedAt > (known.Settings?.IssuedAt ?? 0);
        var seen = isNewer ? Math.Max(settings.IssuedAt, now) : known.Seen;
        return new Taken(known with { Settings = settings, Seen = seen }, Taken.Fresh);
    }
}
