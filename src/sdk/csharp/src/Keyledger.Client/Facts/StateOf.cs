using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Facts;

/// <summary>What a state depends on, besides the facts and the time. What is null is not known.</summary>
internal sealed record Circumstances(bool Failing, LeasedDevice? Device, long? BuiltAt, long? DefaultTrialDays);

/// <summary>The state that facts allow: the first row of the table in the reference that fits. It depends on nothing else.</summary>
internal static class StateOf
{
    private const long Tolerance = 300;
    private const long Day = 86_400;

    /// <summary>The state of an app. <paramref name="known"/> is null before the storage was read.</summary>
    public static State Facts(Known? known, long now, Circumstances around)
    {
        if (known is null) return new State { Status = Status.Starting };
        var time = known.TimeAt(now);
        var state = OfHeld(known, new Given(time, around, known.Settings?.FreeTierEnabled ?? false))
            ?? OfInstall(known, time, around.DefaultTrialDays);
        return state with { ClockSetBack = now < known.Seen - Tolerance };
    }

    /// <summary>
    /// Whether a newer statement of the server takes the license away that a file is for. That a device was deactivated does so only
    /// for the instance of the file.
    /// </summary>
    public static bool TakesAway(Proof proof, Lease file)
    {
        if (proof.LicenseKeyHash != file.LicenseKeyHash || proof.IssuedAt < file.IssuedAt) return false;
        return proof.Refusal is { } refusal
            ? refusal.Reason != "inactive" || proof.InstanceId == file.InstanceId
            : !proof.Lease!.IsGranting;
    }

    private sealed record Given(long Time, Circumstances Around, bool FreeTier);

    private static State OfInstall(Known known, long time, long? defaultTrialDays)
    {
        var days = known.Settings?.TrialDurationDays ?? defaultTrialDays;
        var isFree = known.Settings?.FreeTierEnabled ?? false;
        if (known.Trial is not { } trial)
            return new State { Status = isFree ? Status.Free : Status.Unlicensed, TrialDays = days is null or 0 ? null : days };
        // A double, as in JavaScript: no length that was signed may overflow.
        var end = trial.StartedAt + (double)(days ?? 0) * Day;
        var until = end > long.MaxValue / 2 ? long.MaxValue / 2 : (long)end;
        if (!trial.Used && time < until) return new State { Status = Status.Trial, UntilSeconds = until };
        return isFree
            ? new State { Status = Status.Free }
            : new State { Status = Status.Expired, ExpiredOf = Source.Trial, AtSeconds = until };
    }

    private static State? OfHeld(Known known, Given given)
    {
        var (license, file) = (known.License, known.Offline?.Usable);
        var online = license?.Proof is { } proof ? OfProof(license, proof, given) : null;
        var carried = file is null ? null : OfFile(known.Offline!, file, given);
        var state = online is not null && carried is not null
            ? Decisive(license!.Proof!, file!, online, carried)
            : online ?? carried;
        return state is null ? null : Explained(state, license, given);
    }

    private static State Decisive(Proof proof, Lease file, State online, State carried)
    {
        var (newer, older) = proof.IssuedAt >= file.IssuedAt ? (online, carried) : (carried, online);
        return newer.IsGood || TakesAway(proof, file) || !older.IsGood ? newer : older;
    }

    private static State OfProof(HeldLicense license, Proof proof, Given given)
    {
        if (proof.Lease is not { } lease) return Revoked(proof.Refusal!.Reason, proof.IssuedAt, given);
        if (lease.Status == "expired")
            return new State { Status = Status.Expired, ExpiredOf = Source.License, AtSeconds = lease.ExpiresAt, FreeTier = given.FreeTier };
        if (!lease.IsGranting) return Revoked(lease.Status, proof.IssuedAt, given);
        var isForAnother = given.Around.Device is { } device && lease.Device is not null && lease.Device.IsOtherThan(device);
        return isForAnother
            ? new State { Status = Status.AnotherDevice, FreeTier = given.FreeTier }
            : OfLease(Source.Lease, lease, license, given);
    }

    private static State OfFile(OfflineFacts offline, Lease file, Given given)
    {
        if (!offline.IsForMachine(file, given.Around.Device))
            return new State { Status = Status.AnotherDevice, FreeTier = given.FreeTier };
        if (offline.Withdrawn is { } list && list.Files.Contains(file.File!.Id))
            return new State { Status = Status.Revoked, Reason = "withdrawn", AtSeconds = list.IssuedAt, FreeTier = given.FreeTier };
        return OfLease(Source.File, file, null, given with { Around = given.Around with { Failing = false } });
    }

    private static State OfLease(Source by, Lease lease, HeldLicense? license, Given given)
    {
        var granted = lease.Entitlements.Where(one => one.Value is not JsonFlag { Value: false }).ToList();
        var names = granted.Select(one => one.Key).ToList();
        var values = granted.Where(one => one.Value is not JsonFlag).ToList();
        if (given.Time > lease.ExpiresAt)
            return new State
            {
                Status = Status.Expired, ExpiredOf = by, AtSeconds = lease.ExpiresAt, Entitlements = names, Values = values,
                FreeTier = given.FreeTier,
            };
        if (lease.UpdatesUntil is { } updatesUntil && given.Around.BuiltAt > updatesUntil)
            return new State { Status = Status.NotCovered, UpdatesUntilSeconds = updatesUntil, FreeTier = given.FreeTier };
        var kind = lease.Status == "active" ? Status.Licensed : Status.Fallback;
        // A lease of the first version says less.
        var ends = lease.Token is null ? license?.ExpiresAt : lease.LicenseExpiresAt;
        var isInGrace = by == Source.Lease && kind == Status.Licensed && given.Time >= ends;
        return new State
        {
            Status = given.Around.Failing ? Status.Offline : kind,
            License = given.Around.Failing ? kind : null,
            By = by,
            UntilSeconds = lease.ExpiresAt,
            Entitlements = names,
            Values = values,
            LicenseExpiresAtSeconds = ends,
            Holder = lease.Holder,
            GraceUntilSeconds = isInGrace ? license?.GraceUntil ?? lease.ExpiresAt : null,
        };
    }

    /// <summary>A reason of a newer server counts as the strictest one.</summary>
    private static State Revoked(string reason, long at, Given given) => new()
    {
        Status = Status.Revoked,
        Reason = reason is "suspended" or "reminted" or "inactive" ? reason : "revoked",
        AtSeconds = at,
        FreeTier = given.FreeTier,
    };

    /// <summary>With what the server has said of the build: which release is covered, and why a lease that has ended is not renewed.</summary>
    private static State Explained(State state, HeldLicense? license, Given given)
    {
        if (license?.NotCovered is not { } said || given.Around.BuiltAt is not { } built || built <= said.UpdatesUntil) return state;
        if (state.Status == Status.NotCovered) return state with { NewestRelease = said.NewestRelease };
        return state is { Status: Status.Expired, ExpiredOf: Source.Lease }
            ? new State
            {
                Status = Status.NotCovered, UpdatesUntilSeconds = said.UpdatesUntil, NewestRelease = said.NewestRelease,
                FreeTier = given.FreeTier,
            }
            : state;
    }
}
