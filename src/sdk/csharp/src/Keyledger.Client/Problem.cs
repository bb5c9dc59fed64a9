using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Keyledger.Client.Facts;
using Keyledger.Client.Text;

namespace Keyledger.Client;

/// <summary>Why a call did not do what it should: the closed list of all clients. The state says what it means for the app.</summary>
public enum ProblemCode
{
    /// <summary>No answer came in time.</summary>
    Offline,

    /// <summary>The server does not work at the moment.</summary>
    Unavailable,

    /// <summary>Too many calls; nothing is sent again before <see cref="Problem.RetryAfter"/>.</summary>
    RateLimited,

    /// <summary>What came is no answer of the server, or not a newer one: a proxy or a sign-in page of a network, perhaps.</summary>
    NotGenuine,

    /// <summary>The SDK key, the tenant id or the product id of the app is wrong.</summary>
    Misconfigured,

    /// <summary>The tenant may not activate licenses.</summary>
    Forbidden,

    /// <summary>There is no license on this device.</summary>
    NoLicense,

    /// <summary>The product has no trial.</summary>
    NoTrial,

    /// <summary>The client has no server, so it sends nothing.</summary>
    NoServer,

    /// <summary>The device has a license file: release gives its seat back.</summary>
    HasFile,

    /// <summary>What was carried here is neither a license file nor a list of withdrawn files.</summary>
    Malformed,

    /// <summary>It was signed with a key that this app does not know.</summary>
    UnknownKey,

    /// <summary>It was changed on the way, or was made for another product.</summary>
    BadSignature,

    /// <summary>It was made for another machine.</summary>
    AnotherDevice,

    /// <summary>It answers another request than the last one of this device.</summary>
    NotAsked,

    /// <summary>It is older than what this device has, or was given back.</summary>
    Outdated,

    /// <summary>The clock of this machine is before it.</summary>
    NotYet,

    /// <summary>It has ended.</summary>
    Over,

    /// <summary>There is no such license.</summary>
    NotFound,

    /// <summary>The license was revoked.</summary>
    Revoked,

    /// <summary>The license is suspended.</summary>
    Suspended,

    /// <summary>The license has ended.</summary>
    Expired,

    /// <summary>The app was built after the updates of the license ended.</summary>
    BuildNotCovered,

    /// <summary>The license has another key now.</summary>
    Reminted,

    /// <summary>The device was deactivated.</summary>
    Inactive,

    /// <summary>All seats are taken.</summary>
    SeatLimitReached,

    /// <summary>The floating seat ran out, or its device has taken another since.</summary>
    SeatLost,

    /// <summary>The seats are of people: the key is of a person without one, or another person uses this device.</summary>
    AssignedToAnother,

    /// <summary>No more seats may be borrowed.</summary>
    BorrowLimitReached,

    /// <summary>The plan of the vendor allows no more.</summary>
    PlanLimit,

    /// <summary>The license refuses for another reason.</summary>
    Refused,
}

/// <summary>Why a call did not do what it should.</summary>
public sealed record Problem
{
    internal Problem(ProblemCode code, string message) => (Code, Message) = (code, message);

    /// <summary>For programs.</summary>
    public ProblemCode Code { get; }

    /// <summary>In English, for logs and support.</summary>
    public string Message { get; }

    /// <summary>How long nothing is sent again.</summary>
    public TimeSpan? RetryAfter => RetryAfterMs is { } ms ? TimeSpan.FromMilliseconds(ms) : null;

    /// <summary>With <see cref="ProblemCode.SeatLimitReached"/> of floating seats: how many wait for one, this device with them.</summary>
    public double? Waiting { get; internal init; }

    /// <summary>With <see cref="ProblemCode.BuildNotCovered"/>: the license covers builds until then.</summary>
    public DateTimeOffset? UpdatesUntil => Times.Shown(NotCovered?.UpdatesUntil);

    /// <summary>With <see cref="ProblemCode.BuildNotCovered"/>: the newest release that is covered, if the vendor lists any.</summary>
    public Release? NewestRelease => NotCovered?.NewestRelease;

    /// <summary>The code in the words of all clients, such as <c>seat_limit_reached</c>.</summary>
    public string Name => Names[Code];

    internal long? RetryAfterMs { get; init; }

    internal NotCovered? NotCovered { get; init; }

    /// <summary>Whether sending the same again may help.</summary>
    internal bool IsPassing =>
        Code is ProblemCode.Offline or ProblemCode.Unavailable or ProblemCode.RateLimited or ProblemCode.NotGenuine;

    /// <summary>Whether the server has answered, though not with a success: a wrong key, no seat left.</summary>
    internal bool IsAnswer => !IsPassing && Code != ProblemCode.NoServer;

    internal static readonly IReadOnlyDictionary<ProblemCode, string> Names = Enumerable
        .Range((int)ProblemCode.Offline, (int)ProblemCode.Refused + 1)
        .ToDictionary(code => (ProblemCode)code, code => NameOf(((ProblemCode)code).ToString()));

    private static readonly Dictionary<string, ProblemCode> refusedCodes = Names
        .Where(pair => pair.Key >= ProblemCode.NotFound)
        .ToDictionary(pair => pair.Value, pair => pair.Key, StringComparer.Ordinal);

    /// <summary>The problem that an answer without success stands for; null is no answer.</summary>
    internal static Problem Of(Answered? answered)
    {
        if (answered is null) return new Problem(ProblemCode.Offline, "the license server did not answer in time");
        var (status, record) = (answered.Status, answered.Body?.Record);
        var reason = record?["error"]?.Text;
        var notCovered = NotCovered.In(answered.Body);
        var stated = record?["reason"]?.Text is { } name && refusedCodes.TryGetValue(name, out var refused) ? refused : (ProblemCode?)null;
        var isNone = (status < 400 && notCovered is null) || reason is null;
        var code = status switch
        {
            429 => ProblemCode.RateLimited,
            >= 500 => ProblemCode.Unavailable,
            _ when isNone => ProblemCode.NotGenuine,
            _ when stated is not null => stated.Value,
            403 => ProblemCode.Forbidden,
            400 or 401 or 404 => ProblemCode.Misconfigured,
            _ => ProblemCode.Refused,
        };
        var message = code == ProblemCode.NotGenuine
            ? "this is no answer of the license server"
            : reason ?? $"the license server answered {status.ToString(CultureInfo.InvariantCulture)}";
        return new Problem(code, message)
        {
            RetryAfterMs = answered.RetryAfterMs ?? SecondsIn(record?["retry_after"]),
            NotCovered = code == ProblemCode.BuildNotCovered ? notCovered : null,
            Waiting = code == ProblemCode.SeatLimitReached ? (record?["waiting"] as JsonNumber)?.Value : null,
        };
    }

    /// <summary>A pause that is longer than .NET can say is as long as it can say.</summary>
    private static long? SecondsIn(Json? seconds) => seconds?.Seconds is { } one ? Math.Min(one, 900_000_000_000) * 1000 : null;

    /// <summary>The name of a code in the words of all clients.</summary>
    private static string NameOf(string code) =>
        string.Concat(code.Select((one, at) => char.IsUpper(one) && at > 0 ? "_" + one : one.ToString())).ToLowerInvariant();
}

/// <summary>What a call has led to.</summary>
public sealed class Outcome
{
    internal Outcome(Problem? problem, State state) => (Problem, State) = (problem, state);

    /// <summary>Whether it did what it should.</summary>
    public bool Ok => Problem is null;

    /// <summary>Why it did not; null when it did.</summary>
    public Problem? Problem { get; }

    /// <summary>The present state in both cases.</summary>
    public State State { get; }
}

/// <summary>An answer of a server; the body is null when it is no JSON.</summary>
internal sealed record Answered(int Status, Json? Body, long? RetryAfterMs);
