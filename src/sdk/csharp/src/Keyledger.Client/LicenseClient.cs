using System;
using System.Threading;
using System.Threading.Tasks;
using Keyledger.Client.Calls;
using Keyledger.Client.Signed;

namespace Keyledger.Client;

/// <summary>
/// The client of an app: activates, validates, and has one state to show, also without a network until a lease or a license file ends.
/// It may be used from any thread, starts none of its own, and sends one request at a time. Without a server, what needs one answers
/// <see cref="ProblemCode.NoServer"/>. A call ends within its attempts, and never throws for what comes from outside.
/// </summary>
/// <example><code>
/// var client = new LicenseClient(new ClientOptions(new Place("acme", "editor"), storage)
/// {
///     BaseUrl = new Uri("https://licenses.example.com"),
///     SdkKey = "kl_sdk_1",
/// });
/// await client.Load();
/// if (client.State.Status == Status.Unlicensed) await client.Activate(typedKey);
/// if (client.Has("export")) ShowExport();
/// </code></example>
public sealed class LicenseClient : IDisposable
{
    internal const string Version = "0.1.0";

    private readonly ClientOptions options;
    private readonly IClock clock;
    private readonly ITransport transport;
    private readonly Keeper keeper;
    private readonly Operations calls;
    private readonly Schedule schedule;
    private readonly SemaphoreSlim turn = new(1, 1);
    private readonly object gate = new();
    private readonly Random chance = new();
    private volatile LeasedDevice? device;
    private Task<Outcome>? validating;

    /// <summary>Makes a client; nothing is read or sent yet.</summary>
    /// <param name="options">What it is made of. It must not be changed afterwards.</param>
    /// <exception cref="ArgumentException">
    /// Without options; for an address that is none of http or https, or has no SDK key; and when there is neither a server nor a key to
    /// believe.
    /// </exception>
    public LicenseClient(ClientOptions options)
    {
        this.options = options ?? throw new ArgumentNullException(nameof(options));
        if (options.BaseUrl is { } address && (!address.IsAbsoluteUri || address.Scheme is not ("http" or "https")))
            throw new ArgumentException("BaseUrl is not an address that begins with https://", nameof(options));
        if (options.BaseUrl is not null && string.IsNullOrEmpty(options.SdkKey))
            throw new ArgumentException("BaseUrl needs an SdkKey", nameof(options));
        if (options.BaseUrl is null && options.Keys.Count == 0)
            throw new ArgumentException("without BaseUrl, ship the Keys that sign for the app", nameof(options));
        clock = options.Clock ?? new SystemClock();
        transport = options.Transport ?? new HttpTransport();
        var random = options.Random ?? Random;
        keeper = new Keeper(options, clock, () => device);
        var servers = new Servers(options, (at, isVendor) => new Server(at, isVendor, options, transport, clock, random));
        calls = new Operations(options, keeper, servers, () => device);
        schedule = new Schedule(options, clock, random, () => keeper.Now);
    }

    /// <summary>The present state, which may change by itself as time passes. Reading it never waits for a network.</summary>
    public State State => keeper.State();

    /// <summary>How long it is until the app should validate next, for one that does not use <see cref="Run"/>.</summary>
    public TimeSpan UntilNextValidation => schedule.Left;

    /// <summary>Whether the present state grants an entitlement.</summary>
    /// <param name="entitlement">Its name.</param>
    /// <returns>True only in a state that grants it.</returns>
    public bool Has(string entitlement) => State.Has(entitlement);

    /// <summary>The value of an entitlement in the present state.</summary>
    /// <param name="entitlement">Its name.</param>
    /// <returns>A <see cref="double"/> or <see cref="string"/>, <c>true</c> when it has no value, null when it is not granted.</returns>
    public object? Value(string entitlement) => State.Value(entitlement);

    /// <summary>Calls the listener with each new state, on the thread that has found it.</summary>
    /// <param name="listener">What it throws goes to <see cref="ClientOptions.OnError"/>.</param>
    /// <returns>What ends it.</returns>
    /// <exception cref="ArgumentNullException">Without a listener.</exception>
    /// <example><code>
    /// using var subscription = client.Subscribe(state => Console.WriteLine(state.Status));
    /// </code></example>
    public IDisposable Subscribe(Action<State> listener) =>
        keeper.Subscribe(listener ?? throw new ArgumentNullException(nameof(listener)));

    /// <summary>
    /// Calls the listener with what happens to the license and concerns the user of the app, on the thread that has found it. An end that
    /// comes near is found when the client looks: with each call, and by <see cref="Run"/>.
    /// </summary>
    /// <param name="listener">What it throws goes to <see cref="ClientOptions.OnError"/>.</param>
    /// <returns>What ends it.</returns>
    /// <exception cref="ArgumentNullException">Without a listener.</exception>
    /// <example><code>
    /// using var subscription = client.SubscribeToNotices(notice =>
    /// {
    ///     if (notice.Kind == NoticeKind.Expiring) Say($"Your license ends on {notice.LicenseExpiresAt:d}");
    /// });
    /// </code></example>
    public IDisposable SubscribeToNotices(Action<Notice> listener) =>
        keeper.Subscribe(listener ?? throw new ArgumentNullException(nameof(listener)));

    /// <summary>Reads the storage, without a network. Before that the state is <see cref="Status.Starting"/>.</summary>
    /// <returns>The state that was stored.</returns>
    public Task<State> Load() => InTurn(() =>
    {
        keeper.Load();
        return Task.FromResult(keeper.State());
    });

    /// <summary>Takes a seat with a license key that a person has typed. The same device never takes a second one.</summary>
    /// <param name="licenseKey">As it was typed.</param>
    /// <returns>What it has led to.</returns>
    /// <example><code>
    /// var outcome = await client.Activate(typedKey);
    /// if (outcome.Problem is { Code: ProblemCode.SeatLimitReached }) ShowDevices();
    /// </code></example>
    public Task<Outcome> Activate(string licenseKey) => Told(() => calls.Activate(licenseKey));

    /// <summary>Takes a seat with a license that a person chooses in the vendor's portal, without typing a key.</summary>
    /// <param name="show">
    /// Opens the page in their browser, and shows the code beside it; on the thread that got the answer. What it throws ends the call.
    /// </param>
    /// <param name="cancellation">
    /// Ends the wait, which else ends after ten minutes; in both cases with <see cref="ProblemCode.Refused"/>.
    /// </param>
    /// <returns>What it has led to.</returns>
    /// <exception cref="ArgumentNullException">Without something that shows the page.</exception>
    /// <example><code>
    /// var outcome = await client.ActivateInBrowser(page =>
    /// {
    ///     Console.WriteLine($"Choose a license on {page.Url}, which shows {page.Code}");
    /// });
    /// </code></example>
    public async Task<Outcome> ActivateInBrowser(Action<ActivationPage> show, CancellationToken cancellation = default)
    {
        if (show is null) throw new ArgumentNullException(nameof(show));
        var asked = await InTurn(() => BrowserActivation.Ask(calls)).ConfigureAwait(false);
        if (asked.Waiting is not { } waiting) return new Outcome(asked.Problem, keeper.State());
        show(waiting.Page);
        for (var left = waiting.Polls; left > 0 && await Paused(waiting.Pause, cancellation).ConfigureAwait(false); left--)
        {
            var (key, problem) = await InTurn(() => BrowserActivation.Poll(calls, waiting.DeviceCode)).ConfigureAwait(false);
            if (key is not null) return await Activate(key).ConfigureAwait(false);
            if (problem is { IsPassing: false }) return new Outcome(problem, keeper.State());
        }
        return new Outcome(BrowserActivation.GivenUp, keeper.State());
    }

    /// <summary>Asks the server now. Calls at the same time share one request.</summary>
    /// <returns>What it has led to.</returns>
    /// <example><code>
    /// var outcome = await client.Validate();
    /// if (!outcome.Ok) Console.Error.WriteLine(outcome.Problem);
    /// </code></example>
    public Task<Outcome> Validate()
    {
        lock (gate)
        {
            if (validating is { IsCompleted: false }) return validating;
            return validating = Noted();
        }

        async Task<Outcome> Noted()
        {
            var outcome = await Told(calls.Validate).ConfigureAwait(false);
            schedule.Note(outcome);
            return outcome;
        }
    }

    /// <summary>
    /// Call it when the user comes back from the page of a purchase: it validates every 3 seconds for half a minute, until what the license
    /// grants is another than before.
    /// </summary>
    /// <param name="cancellation">Ends it sooner.</param>
    /// <returns>Whether it is.</returns>
    /// <example><code>
    /// if (await client.RefreshAfterPurchase()) Console.WriteLine("Thank you");
    /// </code></example>
    public Task<bool> RefreshAfterPurchase(CancellationToken cancellation = default) =>
        Purchase.Refresh(pause => Paused(pause, cancellation), keeper.State, Validate);

    /// <summary>Gives the seat back and forgets the license.</summary>
    /// <returns>What it has led to.</returns>
    public Task<Outcome> Deactivate() => Told(() => Leaving.Deactivate(calls));

    /// <summary>Starts the trial of this machine, also without a connection when its length is known.</summary>
    /// <returns>What it has led to.</returns>
    public Task<Outcome> StartTrial() => Told(calls.StartTrial);

    /// <summary>
    /// Borrows the floating seat of this device for a time without a network. <see cref="Deactivate"/> gives it back before its end, and
    /// without a network the text of <see cref="Release"/>.
    /// </summary>
    /// <param name="length">For how long; it may be less.</param>
    /// <returns>What it has led to.</returns>
    public Task<Outcome> Borrow(TimeSpan length) => Told(() => Leaving.Borrow(calls, length));

    /// <summary>Asks for a license file, the first or the next one, with a license key that a person has typed.</summary>
    /// <param name="licenseKey">As it was typed.</param>
    /// <returns>A text to carry to the vendor.</returns>
    /// <exception cref="StorageException">When the storage cannot be written.</exception>
    /// <example><code>
    /// var request = await client.CreateOfflineRequest(typedKey);
    /// File.WriteAllText("request.txt", request.Text);
    /// // The vendor's answer is carried back to the device.
    /// var outcome = await client.ImportLicense(File.ReadAllText("license.txt"));
    /// </code></example>
    public Task<CarriedText> CreateOfflineRequest(string licenseKey) =>
        InTurn(() => Task.FromResult(Offline.CreateRequest(calls, licenseKey)));

    /// <summary>Takes a text that was carried here: the answer to the last request, or the list of withdrawn files.</summary>
    /// <param name="text">As it was pasted or read from a file.</param>
    /// <returns>What it has led to.</returns>
    public Task<Outcome> ImportLicense(string text) => Told(() => Offline.Import(calls, text));

    /// <summary>
    /// Gives the license file and its seat back: the device stops using them, and the text frees the seat at the vendor.
    /// </summary>
    /// <returns>Null without a file; the same text again for a file that was given back before.</returns>
    /// <exception cref="StorageException">When the storage cannot be written.</exception>
    public Task<CarriedText?> Release() => InTurn(() => Task.FromResult(Offline.GiveBack(calls)));

    /// <summary>
    /// Gives a floating seat back for others to use; the license stays stored, and the next validate takes a seat again. Call it when the
    /// app ends. A seat of another kind is kept.
    /// </summary>
    /// <returns>What it has led to.</returns>
    public Task<Outcome> Close() => Told(() => Leaving.GiveSeatBack(calls));

    /// <summary>
    /// Loads, validates whenever it is time to, and tells the listeners when a state ends by itself, until it is canceled. Nothing else in
    /// this client goes on by itself.
    /// </summary>
    /// <param name="cancellation">Ends it.</param>
    /// <returns>A task that ends when it is canceled.</returns>
    /// <example><code>
    /// using var stop = new CancellationTokenSource();
    /// var running = client.Run(stop.Token);
    /// RunTheApp();
    /// stop.Cancel();
    /// await running;
    /// await client.Close();
    /// </code></example>
    public async Task Run(CancellationToken cancellation)
    {
        await Load().ConfigureAwait(false);
        var hasServer = options.BaseUrl is not null || options.Relays is not null;
        while (!cancellation.IsCancellationRequested)
        {
            if (hasServer && schedule.Left == TimeSpan.Zero) await Validate().ConfigureAwait(false);
            // At least once an hour, which also notes the time of the clock.
            var pause = hasServer ? Math.Min(schedule.Left.TotalSeconds, 3600) : 3600;
            if (keeper.Announce().UntilSeconds is { } end) pause = Math.Min(pause, end - keeper.Now + 1);
            if (!await Paused(TimeSpan.FromSeconds(Math.Max(1, pause)), cancellation).ConfigureAwait(false)) return;
            keeper.Change((known, _) => known);
        }
    }

    /// <summary>Ends its connections. It gives nothing back: <see cref="Close"/> does.</summary>
    public void Dispose()
    {
        if (options.Transport is null) (transport as IDisposable)?.Dispose();
        turn.Dispose();
    }

    /// <summary>Waits. Whether the pause is over, and was not canceled.</summary>
    private async Task<bool> Paused(TimeSpan pause, CancellationToken cancellation)
    {
        try
        {
            await clock.Delay(pause, cancellation).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private Task<Outcome> Told(Func<Task<Problem?>> step) => InTurn(async () =>
    {
        var problem = await step().ConfigureAwait(false);
        return new Outcome(problem, keeper.State());
    });

    /// <summary>Runs one step after another, so that at most one request is under way, each with the device as it is now.</summary>
    private async Task<T> InTurn<T>(Func<Task<T>> step)
    {
        await turn.WaitAsync().ConfigureAwait(false);
        try
        {
            await Identify().ConfigureAwait(false);
            return await step().ConfigureAwait(false);
        }
        finally
        {
            turn.Release();
        }
    }

    /// <summary>Asks what the device is. While that fails or says nothing, what was said before stays.</summary>
    private async Task Identify()
    {
        try
        {
            if (options.Identity is { } identify)
                device = (await identify(options.Place).ConfigureAwait(false)).Usable ?? device;
        }
        catch (Exception error)
        {
            options.OnError?.Invoke(error);
        }
    }

    private double Random()
    {
        lock (chance) return chance.NextDouble();
    }
}
