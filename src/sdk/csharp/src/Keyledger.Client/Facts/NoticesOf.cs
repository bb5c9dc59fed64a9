using System.Collections.Generic;

namespace Keyledger.Client.Facts;

/// <summary>A state, and when it was looked at by the clock: Unix seconds.</summary>
internal sealed record Look(State State, long At)
{
    /// <summary>Before anything was looked at.</summary>
    public static readonly Look Starting = new(new State { Status = Status.Starting }, 0);
}

/// <summary>What is to be told of two looks at the state: the table of notices in the reference. It depends on nothing else.</summary>
internal static class NoticesOf
{
    private const long Day = 86_400;

    /// <summary>The notices of two looks, one after the other.</summary>
    public static IReadOnlyList<Notice> Looks(Look before, Look after, int expiringDays)
    {
        var told = new List<Notice>();
        if (ChangeOf(before.State, after.State) is { } change) told.Add(change);
        if (SoonOver(after, expiringDays) is { } end && end != SoonOver(before, expiringDays))
            told.Add(new Notice(NoticeKind.Expiring) { LicenseExpiresAtSeconds = end });
        return told;
    }

    private static Notice? ChangeOf(State before, State after)
    {
        if (after.Status == Status.Revoked)
            return HadLicense(before) ? new Notice(NoticeKind.Revoked) { Reason = after.Reason } : null;
        if (after.IsActive && (before.IsActive ? EndOf(after) > EndOf(before) : HadEnded(before)))
            return new Notice(NoticeKind.Renewed) { LicenseExpiresAtSeconds = after.LicenseExpiresAtSeconds };
        return after.IsGranting && WasAway(before) ? new Notice(NoticeKind.Restored) : null;
    }

    /// <summary>No end is later than any.</summary>
    private static long EndOf(State active) => active.LicenseExpiresAtSeconds ?? long.MaxValue;

    /// <summary>Whether the license itself had come to its end.</summary>
    private static bool HadEnded(State state) => (state.IsGranting && !state.IsActive) || state.ExpiredOf == Source.License;

    /// <summary>Whether there was a license, and it was not good here.</summary>
    private static bool WasAway(State state) =>
        state.Status is Status.Revoked or Status.NotCovered or Status.AnotherDevice || state.ExpiredOf is Source.Lease or Source.File;

    private static bool HadLicense(State state) =>
        state.IsGranting || HadEnded(state) || (state.Status != Status.Revoked && WasAway(state));

    /// <summary>The end of an active license that is near, and has not come.</summary>
    private static long? SoonOver(Look look, int expiringDays) =>
        look.State is { IsActive: true, LicenseExpiresAtSeconds: { } end } && look.At >= end - expiringDays * Day && look.At < end ? end : null;
}
