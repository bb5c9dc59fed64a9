using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace Keyledger.Client;

/// <summary>The time and its pauses, which tests replace.</summary>
public interface IClock
{
    /// <summary>The clock of the device, which its user can set.</summary>
    DateTimeOffset Now { get; }

    /// <summary>The time since some fixed moment, which nobody can set back.</summary>
    TimeSpan Elapsed { get; }

    /// <summary>Waits.</summary>
    /// <param name="pause">How long.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <returns>A task that ends with the pause, or is canceled.</returns>
    Task Delay(TimeSpan pause, CancellationToken cancellation);
}

/// <summary>The clock of the system.</summary>
internal sealed class SystemClock : IClock
{
    private static readonly Stopwatch running = Stopwatch.StartNew();

    public DateTimeOffset Now => DateTimeOffset.UtcNow;

    public TimeSpan Elapsed => running.Elapsed;

    public Task Delay(TimeSpan pause, CancellationToken cancellation) => Task.Delay(pause, cancellation);
}
