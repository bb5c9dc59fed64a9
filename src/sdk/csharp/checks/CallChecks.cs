using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Keyledger.Client.Checks;

/// <summary>What no story tells: how often a purchase is asked for, and what becomes of a listener that throws.</summary>
internal static class CallChecks
{
    public static async Task<int> Run()
    {
        await UnknownPurchase().ConfigureAwait(false);
        await CanceledPurchase().ConfigureAwait(false);
        await ThrowingListener().ConfigureAwait(false);
        await ThrowingOnError().ConfigureAwait(false);
        await Running().ConfigureAwait(false);
        Console.WriteLine("5 checks passed");
        return 0;
    }

    private static async Task UnknownPurchase()
    {
        var server = new SilentServer();
        using var client = ClientOf(server);
        Expect(!await client.RefreshAfterPurchase().ConfigureAwait(false), "a purchase was found");
        Expect(server.Requests == 11, $"{server.Requests} requests were sent");
        Expect(server.Pauses.SequenceEqual(Enumerable.Repeat(3.0, 10)), $"the pauses were {string.Join(", ", server.Pauses)} seconds");
    }

    private static async Task CanceledPurchase()
    {
        var server = new SilentServer();
        using var client = ClientOf(server);
        using var stop = new CancellationTokenSource();
        stop.Cancel();
        Expect(!await client.RefreshAfterPurchase(stop.Token).ConfigureAwait(false), "a purchase was found");
        Expect(server.Requests == 1, $"{server.Requests} requests were sent");
    }

    private static async Task ThrowingListener()
    {
        var (errors, heard) = (new List<Exception>(), new List<Status>());
        using var client = ClientOf(new SilentServer(), errors.Add);
        using var throwing = client.Subscribe(_ => throw new InvalidOperationException("a listener"));
        using var hearing = client.Subscribe(state => heard.Add(state.Status));
        await client.Load().ConfigureAwait(false);
        Expect(errors.Count == 1 && errors[0].Message == "a listener", "its error was not told");
        Expect(heard.SequenceEqual(new[] { Status.Unlicensed }), "another listener did not hear");
        throwing.Dispose();
        await client.StartTrial().ConfigureAwait(false);
        Expect(errors.Count == 1 && heard.SequenceEqual(new[] { Status.Unlicensed, Status.Trial }), "it heard after its end");
    }

    /// <summary>What an app does with an error may throw; the listeners hear what comes after it.</summary>
    private static async Task ThrowingOnError()
    {
        var heard = new List<Status>();
        using var client = ClientOf(new SilentServer(), error => throw error);
        using var hearing = client.Subscribe(state => heard.Add(state.Status));
        var throwing = client.Subscribe(_ => throw new InvalidOperationException("a listener"));
        try
        {
            await client.Load().ConfigureAwait(false);
            Expect(false, "the error was lost");
        }
        catch (InvalidOperationException)
        {
            throwing.Dispose();
        }
        await client.StartTrial().ConfigureAwait(false);
        Expect(heard.SequenceEqual(new[] { Status.Unlicensed, Status.Trial }), "nothing was heard after it");
    }

    /// <summary>An app that runs asks again by itself, with pauses that grow, and stops when it is canceled.</summary>
    private static async Task Running()
    {
        using var stop = new CancellationTokenSource();
        var server = new SilentServer { OnPause = pauses => { if (pauses == 30) stop.Cancel(); } };
        using var client = ClientOf(server);
        await client.Run(stop.Token).ConfigureAwait(false);
        Expect(client.State.Status == Status.Unlicensed, "the storage was not read");
        Expect(server.Requests is > 3 and <= 30, $"{server.Requests} requests were sent");
        Expect(server.Pauses.Max() is > 600 and <= 3601, $"the longest pause was {server.Pauses.Max()} seconds");
    }

    private static LicenseClient ClientOf(SilentServer server, Action<Exception>? onError = null) =>
        new(new ClientOptions(new Place("acme", "editor"), new MemoryStorage())
        {
            BaseUrl = new Uri("https://licenses.example.com"),
            SdkKey = "kl_sdk_1",
            Identity = null,
            DefaultTrialDays = 14,
            Transport = server,
            Clock = server,
            OnError = onError,
        });

    private static void Expect(bool isSo, string otherwise)
    {
        if (!isSo) throw new InvalidDataException(otherwise);
    }

    /// <summary>A server that knows nothing, and a clock whose pauses are over at once.</summary>
    private sealed class SilentServer : ITransport, IClock
    {
        public int Requests { get; private set; }

        public List<double> Pauses { get; } = new();

        /// <summary>Is called in each pause, with how many there were.</summary>
        public Action<int> OnPause { get; init; } = _ => { };

        public DateTimeOffset Now { get; private set; } = DateTimeOffset.FromUnixTimeSeconds(1_793_530_000);

        public TimeSpan Elapsed => Now - DateTimeOffset.UnixEpoch;

        public Task<TransportAnswer> Send(TransportRequest request, CancellationToken cancellation)
        {
            Requests++;
            return Task.FromResult(new TransportAnswer(404, """{"error":"no such product"}""", null));
        }

        public Task Delay(TimeSpan pause, CancellationToken cancellation)
        {
            // No request is answered too late.
            if (pause == TimeSpan.FromSeconds(15)) return Task.Delay(pause, cancellation);
            cancellation.ThrowIfCancellationRequested();
            Pauses.Add(pause.TotalSeconds);
            Now += pause;
            OnPause(Pauses.Count);
            return Task.CompletedTask;
        }
    }
}
