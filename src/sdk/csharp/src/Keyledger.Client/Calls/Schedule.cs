using System;

namespace Keyledger.Client.Calls;

/// <summary>When to validate next.</summary>
internal sealed class Schedule(ClientOptions options, IClock clock, Func<double> random, Func<long> now)
{
    private readonly object gate = new();
    private TimeSpan due = TimeSpan.Zero;
    private int failures;

    /// <summary>How long it is until then; nothing at the start and when it is overdue.</summary>
    public TimeSpan Left
    {
        get
        {
            lock (gate) return due > clock.Elapsed ? due - clock.Elapsed : TimeSpan.Zero;
        }
    }

    /// <summary>Notes what a validate has led to.</summary>
    public void Note(Outcome outcome)
    {
        // The server that does not cover the build will not cover it in a minute.
        var isAnswered = outcome.Problem is null or { Code: ProblemCode.BuildNotCovered };
        lock (gate)
        {
            var wait = isAnswered ? Pause(outcome.State) : PauseAfter(outcome.Problem!, outcome.State);
            failures = isAnswered ? 0 : failures + 1;
            due = clock.Elapsed + TimeSpan.FromMilliseconds(Math.Min(wait, TimeSpan.FromDays(365).TotalMilliseconds));
        }
    }

    private double Pause(State state)
    {
        var every = options.RefreshEvery.TotalSeconds;
        var seconds = state.IsGranting ? Math.Min(every, (state.UntilSeconds!.Value - now()) / 2.0) : every;
        return Math.Max(30, seconds) * 1000 * (0.9 + 0.2 * random());
    }

    private double PauseAfter(Problem problem, State state)
    {
        var retryAfter = problem.RetryAfterMs ?? 0;
        // Who waits for a floating seat comes back when the next one ends.
        if (problem.Code == ProblemCode.SeatLimitReached && retryAfter > 0) return retryAfter * (1 + 0.2 * random());
        // A lease that is nearly over, as one of a floating seat soon is, gets some more attempts before its end.
        var left = state.IsGranting ? (state.UntilSeconds!.Value - now()) * 1000.0 : double.PositiveInfinity;
        var most = Math.Max(5000, left / 4);
        return retryAfter + Math.Min(most, 1000 + Server.Jitter(failures, 60_000, 3_600_000, random()));
    }
}
