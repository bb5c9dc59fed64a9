using System;
using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Text;

namespace Keyledger.Client;

/// <summary>What an app shows and allows. There is exactly one at any time.</summary>
public enum Status
{
    /// <summary>The storage has not been read yet.</summary>
    Starting,

    /// <summary>No license, no trial under way, no free tier: ask for a license key, or offer the trial.</summary>
    Unlicensed,

    /// <summary>The license is good.</summary>
    Licensed,

    /// <summary>The license has ended, and its fallback entitlements stay.</summary>
    Fallback,

    /// <summary>The last attempts to reach the server failed; the stored lease is good until its end.</summary>
    Offline,

    /// <summary>A trial is under way.</summary>
    Trial,

    /// <summary>The app may be used with its free tier.</summary>
    Free,

    /// <summary>Something has ended: <see cref="State.ExpiredOf"/> says what.</summary>
    Expired,

    /// <summary>The license was withdrawn from this device.</summary>
    Revoked,

    /// <summary>The app was built after the updates of the license ended: offer an older build, or to extend the updates.</summary>
    NotCovered,

    /// <summary>The license was given to another machine: validate asks for a lease for this one; in place of a file, ask for a new one.</summary>
    AnotherDevice,
}

/// <summary>What was signed, or has ended.</summary>
public enum Source
{
    /// <summary>A lease of the server. When it has ended, connecting again may bring the license back.</summary>
    Lease,

    /// <summary>A license file. When it has ended, the next file brings the license back.</summary>
    File,

    /// <summary>The license itself.</summary>
    License,

    /// <summary>The trial.</summary>
    Trial,
}

/// <summary>Whom a license is issued to, for display.</summary>
/// <param name="Name">The name, if the product names it.</param>
/// <param name="Email">The email address, likewise.</param>
public sealed record Holder(string? Name, string? Email);

/// <summary>A release of the app, as the vendor has listed it.</summary>
/// <param name="Version">Its version.</param>
/// <param name="BuiltAt">When it was built.</param>
/// <param name="Url">Its page, which begins with https://; null when there is none.</param>
public sealed record Release(string Version, DateTimeOffset BuiltAt, string? Url)
{
    internal long BuiltAtSeconds { get; init; }
}

/// <summary>
/// The present state of an app: its <see cref="Status"/>, and what belongs to that. What does not belong to it is null, empty or false.
/// </summary>
/// <example><code>
/// var state = client.State;
/// var text = state.Status switch
/// {
///     Status.Licensed => "Thank you",
///     Status.Offline => $"Connect before {state.Until:d}",
///     Status.Trial => $"The trial ends on {state.Until:d}",
///     _ => "Enter a license key",
/// };
/// </code></example>
public sealed record State
{
    internal static readonly IReadOnlyList<string> None = Array.Empty<string>();

    /// <summary>What the app shows and allows.</summary>
    public Status Status { get; internal init; }

    /// <summary>The clock of the device is behind a time that was already seen. That later time is then used.</summary>
    public bool ClockSetBack { get; internal init; }

    /// <summary>Of a state that grants something: what was signed.</summary>
    public Source? By { get; internal init; }

    /// <summary>With <see cref="Status.Offline"/>: <see cref="Status.Licensed"/> or <see cref="Status.Fallback"/>.</summary>
    public Status? License { get; internal init; }

    /// <summary>Until when the app may go on without reaching the server or without the next file; the end of a trial.</summary>
    public DateTimeOffset? Until => Times.Shown(UntilSeconds);

    /// <summary>The entitlements that are granted; with <see cref="Status.Expired"/> of a lease or file, those that were until then.</summary>
    public IReadOnlyList<string> Entitlements { get; internal init; } = None;

    /// <summary>When the license itself ends, for display; null when it does not.</summary>
    public DateTimeOffset? LicenseExpiresAt => Times.Shown(LicenseExpiresAtSeconds);

    /// <summary>Whom the license is issued to, for display.</summary>
    public Holder? Holder { get; internal init; }

    /// <summary>While the license goes on after its end: until when, for display.</summary>
    public DateTimeOffset? GraceUntil => Times.Shown(GraceUntilSeconds);

    /// <summary>With <see cref="Status.Expired"/>: what has ended.</summary>
    public Source? ExpiredOf { get; internal init; }

    /// <summary>With <see cref="Status.Expired"/> and <see cref="Status.Revoked"/>: since when.</summary>
    public DateTimeOffset? At => Times.Shown(AtSeconds);

    /// <summary>With <see cref="Status.Revoked"/>: revoked, suspended, reminted, inactive or withdrawn.</summary>
    public string? Reason { get; internal init; }

    /// <summary>With <see cref="Status.NotCovered"/>: the license covers builds until then.</summary>
    public DateTimeOffset? UpdatesUntil => Times.Shown(UpdatesUntilSeconds);

    /// <summary>With <see cref="Status.NotCovered"/>: the newest release that is covered, if the vendor lists any.</summary>
    public Release? NewestRelease { get; internal init; }

    /// <summary>With <see cref="Status.Unlicensed"/> and <see cref="Status.Free"/>: the days of the trial that can be started.</summary>
    public long? TrialDays { get; internal init; }

    /// <summary>Of a state that grants nothing: whether the app may continue with its free tier.</summary>
    public bool FreeTier { get; internal init; }

    internal long? UntilSeconds { get; init; }

    internal long? LicenseExpiresAtSeconds { get; init; }

    internal long? GraceUntilSeconds { get; init; }

    internal long? AtSeconds { get; init; }

    internal long? UpdatesUntilSeconds { get; init; }

    /// <summary>Of the entitlements that are more than flags: a number or text.</summary>
    internal IReadOnlyList<KeyValuePair<string, Json>> Values { get; init; } = Array.Empty<KeyValuePair<string, Json>>();

    internal bool IsGranting => By is not null;

    /// <summary>The license itself is good, rather than only its fallback.</summary>
    internal bool IsActive => Status == Status.Licensed || (Status == Status.Offline && License == Status.Licensed);

    /// <summary>Good is a state that grants something, and one whose build is not covered.</summary>
    internal bool IsGood => IsGranting || Status == Status.NotCovered;

    /// <summary>Whether the app may use what has this name.</summary>
    /// <param name="entitlement">The name of an entitlement.</param>
    /// <returns>True only in a state that grants it.</returns>
    public bool Has(string entitlement) => IsGranting && Entitlements.Contains(entitlement);

    /// <summary>How much of it the app may use.</summary>
    /// <param name="entitlement">The name of an entitlement.</param>
    /// <returns>A <see cref="double"/> or <see cref="string"/>, <c>true</c> when it has no value, null when it is not granted.</returns>
    public object? Value(string entitlement)
    {
        if (!Has(entitlement)) return null;
        foreach (var pair in Values)
            if (pair.Key == entitlement) return pair.Value is JsonNumber number ? number.Value : pair.Value.Text;
        return true;
    }

    /// <summary>The state as JSON, in the words of all clients: for logs and support.</summary>
    /// <returns>One line.</returns>
    public override string ToString() => JsonWriter.Write(StateJson.Of(this));
}
