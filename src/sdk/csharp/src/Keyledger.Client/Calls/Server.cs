using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Calls;

/// <summary>Calls of the client interface at one address, with their time limits and repetitions.</summary>
internal sealed class Server(Uri address, bool isVendor, ClientOptions options, ITransport transport, IClock clock, Func<double> random)
{
    /// <summary>A server that asks for a longer pause is not waited for within a call.</summary>
    private const long LongestPauseMs = 10_000;

    /// <summary>Answers of the server are shorter; what is longer comes from something else.</summary>
    private const int LongestText = 65_536;

    private readonly string root =
        $"{address.AbsoluteUri.TrimEnd('/')}/{Uri.EscapeDataString(options.Place.TenantId)}";

    private long notBeforeMs;

    /// <summary>The address of a relay; null for the vendor's server.</summary>
    public string? Relay => isVendor ? null : address.OriginalString;

    /// <summary>
    /// Sends a call up to so many times, until <paramref name="judge"/> finds nothing wrong with an answer, or a problem that stays.
    /// </summary>
    public async Task<Problem?> Send(string name, JsonObject? body, Func<Answered, Task<Problem?>> judge, int attempts = 3)
    {
        var wait = notBeforeMs - NowMs;
        if (wait > 0)
            return new Problem(ProblemCode.RateLimited, "the license server asked for a pause, which is not over") { RetryAfterMs = wait };
        var url = $"{root}/{Uri.EscapeDataString(options.Place.ProductId)}/{name}";
        for (var attempt = 0; ; attempt++)
        {
            var answered = await Request(url, body is null ? null : JsonWriter.Write(body)).ConfigureAwait(false);
            var problem = answered is null ? Problem.Of(null) : await judge(answered).ConfigureAwait(false);
            if (problem is not { IsPassing: true }) return problem;
            var pause = problem.RetryAfterMs ?? 0;
            if (problem.RetryAfterMs is not null) notBeforeMs = NowMs + pause;
            if (attempt + 1 >= attempts || pause > LongestPauseMs) return problem;
            var jitter = Jitter(attempt, 500, 8000, random());
            await clock.Delay(TimeSpan.FromMilliseconds(pause + jitter), CancellationToken.None).ConfigureAwait(false);
        }
    }

    /// <summary>Fetches the published keys; only those whose id is the hash of the key are returned.</summary>
    public async Task<Dictionary<string, string>> Keys()
    {
        var keys = new Dictionary<string, string>();
        var answered = await Request($"{root}/.well-known/service-keys", null, false).ConfigureAwait(false);
        if (answered?.Status != 200 || answered.Body?.Record?["keys"]?.Record is not { } published) return keys;
        foreach (var entry in published.Entries())
            if (entry.Value.Text is { } key && Keyset.IsKeyOf(entry.Key, key)) keys[entry.Key] = key;
        return keys;
    }

    /// <summary>Anything between 0 and a bound that doubles with each attempt.</summary>
    public static double Jitter(int attempt, double baseMs, double mostMs, double random) =>
        random * Math.Min(mostMs, baseMs * Math.Pow(2, attempt));

    private long NowMs => clock.Now.ToUnixTimeMilliseconds();

    /// <summary>Sends a request once; null when no complete answer came within the time.</summary>
    private async Task<Answered?> Request(string url, string? body, bool hasKey = true)
    {
        using var stop = new CancellationTokenSource();
        var request = new TransportRequest(new Uri(url), hasKey ? options.SdkKey : null, body);
        var answer = Answer(request, stop.Token);
        var late = clock.Delay(options.Timeout, stop.Token);
        var first = await Task.WhenAny(answer, late).ConfigureAwait(false);
        stop.Cancel();
        return first == answer ? await answer.ConfigureAwait(false) : null;
    }

    private async Task<Answered?> Answer(TransportRequest request, CancellationToken cancellation)
    {
        try
        {
            var answer = await transport.Send(request, cancellation).ConfigureAwait(false);
            var body = answer.Body.Length > LongestText ? null : JsonReader.Read(answer.Body);
            return new Answered(answer.Status, body, Times.RetryAfterMs(answer.RetryAfter, NowMs));
        }
        catch (Exception)
        {
            return null;
        }
    }
}

/// <summary>The relays of the customer's network and the vendor's server.</summary>
internal sealed class Servers(ClientOptions options, Func<Uri, bool, Server> serverAt)
{
    private readonly Dictionary<string, Server> relays = new();

    /// <summary>It alone is believed about its keys, and asked about settings and trials. Null for a client without a server.</summary>
    public Server? Vendor { get; } = options.BaseUrl is { } address ? serverAt(address, true) : null;

    /// <summary>All in the order in which they are asked for a seat: the relays, and the vendor's server at the end.</summary>
    public async Task<IReadOnlyList<Server>> InOrder()
    {
        var order = new List<Server>();
        // Looked up anew each time: a laptop changes its network. Finding none must not keep the app from its vendor.
        try
        {
            if (options.Relays is { } find)
                foreach (var address in await find().ConfigureAwait(false)) order.Add(RelayAt(address.OriginalString));
        }
        catch (Exception)
        {
            order.Clear();
        }
        if (Vendor is not null) order.Add(Vendor);
        return order;
    }

    /// <summary>The one that gave a seat; null without a server, and for an address that was edited in the storage.</summary>
    public Server? That(string? relay)
    {
        if (relay is null) return Vendor;
        return Uri.TryCreate(relay, UriKind.Absolute, out var address) && address.Scheme is "http" or "https"
            ? RelayAt(relay)
            : null;
    }

    private Server RelayAt(string address)
    {
        if (!relays.TryGetValue(address, out var relay)) relays[address] = relay = serverAt(new Uri(address), false);
        return relay;
    }
}
