using System;
using System.Threading.Tasks;
using Keyledger.Client.Facts;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Calls;

/// <summary>What the calls of a client do. Each returns null when it worked, and is the only one under way.</summary>
internal sealed class Operations(ClientOptions options, Keeper keeper, Servers servers, Func<LeasedDevice?> device)
{
    private static readonly Problem noServer =
        new(ProblemCode.NoServer, "this client has no license server: set BaseUrl and SdkKey, or Relays");

    public Keeper Keeper => keeper;

    public Servers Servers => servers;

    public Place Place => options.Place;

    public LeasedDevice? Device => device();

    /// <summary>How the vendor and the customer see the device.</summary>
    public string NameOf(Known known) =>
        options.DeviceName ?? $"Device {known.InstallId.Substring(0, Math.Min(8, known.InstallId.Length))}";

    /// <summary>Sends a call, or says that there is nobody to send it to.</summary>
    public static Task<Problem?> Send(
        Server? server, string name, JsonObject? body, Func<Answered, Task<Problem?>> judge, int attempts = 3) =>
        server is null ? Task.FromResult<Problem?>(noServer) : server.Send(name, body, judge, attempts);

    /// <summary>Takes a seat for this device: at the first of the servers in their order that gives one.</summary>
    public async Task<Problem?> Activate(string key)
    {
        var order = await servers.InOrder().ConfigureAwait(false);
        Problem? problem = order.Count == 0 ? noServer : null;
        for (var at = 0; at < order.Count; at++)
        {
            // A relay that does not answer is not waited for while there is another server.
            var attempts = at + 1 < order.Count ? 1 : 3;
            var failed = await ActivateAt(order[at], key, new JsonObject(), attempts, _ => Task.FromResult<Problem?>(null)).ConfigureAwait(false);
            if (failed is null)
            {
                keeper.Reached(true);
                return null;
            }
            // What a license says counts more than that a server cannot be reached.
            problem = problem is { IsPassing: false } && failed.IsPassing ? problem : failed;
        }
        keeper.Reached(problem is { IsAnswer: true });
        return problem;
    }

    /// <summary>Takes a seat at one server. <paramref name="also"/> takes what else was answered.</summary>
    public Task<Problem?> ActivateAt(Server? server, string key, JsonObject more, int attempts, Func<JsonObject, Task<Problem?>> also)
    {
        var known = keeper.Load();
        var relay = server?.Relay;
        var body = JsonWriter.Object(
            ("license_key", JsonWriter.Of(key)),
            ("instance_name", JsonWriter.Of(NameOf(known))),
            ("free_tier_instance_id", JsonWriter.Of(known.InstallId)),
            // Each server knows its own.
            ("instance_id", known.License is { } held && held.Relay == relay ? JsonWriter.Of(held.InstanceId) : null),
            ("user_id", JsonWriter.Of(options.UserId)));
        Say(body);
        foreach (var member in more.Entries()) body[member.Key] = member.Value;
        return Send(server, "activate", body, Judge, attempts);

        async Task<Problem?> Judge(Answered answered)
        {
            var record = answered.Body?.Record;
            if (answered.Status != 200 || record?["instance_id"]?.Text is not { } instanceId) return NotGenuine(answered);
            var isTaken = await TakeAnswer(answered, new HeldLicense(key, instanceId) { Relay = relay }).ConfigureAwait(false);
            return isTaken ? await also(record).ConfigureAwait(false) : NotGenuine(answered);
        }
    }

    /// <summary>
    /// Asks for a newer lease; without a license, for the settings and the trial. A floating seat that is gone is taken anew, also at another
    /// server when the one that gave it is out of reach.
    /// </summary>
    public async Task<Problem?> Validate()
    {
        if (keeper.Load().License is not { } license) return await Report().ConfigureAwait(false);
        if (license.IsAway) return await Activate(license.Key).ConfigureAwait(false);
        Answered? gone = null;
        var problem = await Send(servers.That(license.Relay), "validate", Say(OfSeat(license)), Judge).ConfigureAwait(false);
        if (license.Fence is not null && (gone is not null || IsOutOfReach(license, problem)))
        {
            var failed = await Activate(license.Key).ConfigureAwait(false);
            // Only now: an app that gets the next seat at once has never been without one.
            if (failed is not null && gone is not null && keeper.State().UntilSeconds is not null)
                await TakeAnswer(gone, license).ConfigureAwait(false);
            return failed;
        }
        // Also a license that the server does not know keeps its lease until the end: only a signed refusal ends it.
        keeper.Reached(problem is null);
        return problem;

        async Task<Problem?> Judge(Answered answered)
        {
            if (license.Fence is not null && HasLostSeat(answered))
            {
                gone = answered;
                return Problem.Of(answered);
            }
            if (await TakeAnswer(answered, license).ConfigureAwait(false)) return null;
            if (NotCovered.In(answered.Body) is not null) keeper.Change((known, _) => Take.BuildNotCovered(known, answered.Body));
            return NotGenuine(answered);
        }
    }

    /// <summary>Starts the trial of this machine. It begins at once, and the server is told as soon as it can be reached.</summary>
    public async Task<Problem?> StartTrial()
    {
        var problem = keeper.Load().Settings is null ? await Report().ConfigureAwait(false) : null;
        var known = keeper.Load();
        if (known.License is not null || known.Trial is not null || known.Offline?.Usable is not null) return null;
        if ((known.Settings?.TrialDurationDays ?? options.DefaultTrialDays ?? 0) == 0)
            return problem ?? new Problem(ProblemCode.NoTrial, "this product has no trial");
        keeper.Change(Take.BeginTrial);
        await Report().ConfigureAwait(false);
        return null;
    }

    /// <summary>Takes what is signed, with the published keys if its key is not known. What became of it.</summary>
    public async Task<string> TakeSigned(Func<Known, long, Taken> step)
    {
        var taken = keeper.Take(step);
        if (taken != Doubts.UnknownKey || servers.Vendor is not { } vendor) return taken;
        var fetched = await vendor.Keys().ConfigureAwait(false);
        if (fetched.Count == 0) return taken;
        keeper.Change((known, _) =>
        {
            foreach (var pair in known.Keys)
                if (!fetched.ContainsKey(pair.Key)) fetched[pair.Key] = pair.Value;
            return known with { Keys = fetched };
        });
        return keeper.Take(step);
    }

    /// <summary>What a call says of the seat that is held.</summary>
    public static JsonObject OfSeat(HeldLicense license) => JsonWriter.Object(
        ("license_key", JsonWriter.Of(license.Key)),
        ("instance_id", JsonWriter.Of(license.InstanceId)),
        ("fence", JsonWriter.Of(license.Fence)));

    /// <summary>Reports an install without a license, and takes the settings and the trial.</summary>
    private async Task<Problem?> Report()
    {
        var known = keeper.Load();
        var status = keeper.State().Status;
        JsonObject? body = null;
        if (known.Trial is not null || status == Status.Free)
        {
            // Only a trial or a free tier is reported; before that the app only asks for its settings.
            var isTrial = status == Status.Trial || known.Trial is { Reported: false };
            body = JsonWriter.Object(
                ("instance_id", JsonWriter.Of(known.InstallId)),
                ("state", JsonWriter.Of(isTrial ? "trial" : status == Status.Free ? "free_tier" : "expired")),
                ("machine_hash", JsonWriter.Of(Device?.MachineHash)));
            AddTelemetry(body);
        }
        var problem = await Send(servers.Vendor, body is null ? "config" : "keyless", body, async answered =>
        {
            if (answered.Status != 200 || !await TakeSettings(answered).ConfigureAwait(false)) return NotGenuine(answered);
            if (body is not null) keeper.Change((facts, _) => Take.Trial(facts, answered.Body));
            return null;
        }).ConfigureAwait(false);
        keeper.Reached(problem is null);
        return problem;
    }

    /// <summary>Takes a proof and the settings beside it. Whether the answer shows that the server was reached.</summary>
    private async Task<bool> TakeAnswer(Answered answered, HeldLicense held)
    {
        var taken = await TakeSigned((known, now) => Take.Proof(known, answered.Body, held, Place, now)).ConfigureAwait(false);
        if (!Taken.IsNew(taken)) return false;
        await TakeSettings(answered).ConfigureAwait(false);
        return true;
    }

    private async Task<bool> TakeSettings(Answered answered) => Taken.IsNew(await TakeSigned((known, now) =>
        Take.Settings(known, answered.Body, Place, now, options.RequireSignedSettings)).ConfigureAwait(false));

    /// <summary>A success or a signed refusal that does not verify, or is older than what is held.</summary>
    private static Problem NotGenuine(Answered answered) =>
        (answered.Status < 400 && NotCovered.In(answered.Body) is null) || answered.Body?.Record?["refusal"] is not null
            ? new Problem(ProblemCode.NotGenuine, "the answer carries no valid signature, or an older one")
            : Problem.Of(answered);

    private static bool HasLostSeat(Answered answered) =>
        answered.Status == 422 && answered.Body?.Record?["reason"]?.Text is "seat_lost" or "assigned_to_another" or "inactive";

    /// <summary>A relay that is out of reach is given up when its lease is nearly over; it keeps the seat until then.</summary>
    private bool IsOutOfReach(HeldLicense license, Problem? problem) =>
        license.Relay is not null && problem is { IsPassing: true } && license.Proof?.Lease is { } lease
        && lease.ExpiresAt - keeper.Now < (lease.ExpiresAt - lease.IssuedAt) / 3.0;

    /// <summary>Adds what an app says of its device and its build to get a lease, and the form of lease that is signed as a whole.</summary>
    private JsonObject Say(JsonObject body)
    {
        body["machine_hash"] = JsonWriter.Of(Device?.MachineHash);
        if (Device is { } known) body["device"] = JsonWriter.Of(known.Components);
        AddTelemetry(body);
        body["app_built_at"] = JsonWriter.Of(options.AppBuiltAt?.ToUnixTimeSeconds());
        body["app_channel"] = JsonWriter.Of(options.AppChannel);
        body["lease_version"] = JsonWriter.Of(2);
        return body;
    }

    private void AddTelemetry(JsonObject body)
    {
        body["sdk"] = JsonWriter.Of("csharp");
        body["sdk_version"] = JsonWriter.Of(LicenseClient.Version);
        body["app_version"] = JsonWriter.Of(options.AppVersion);
        body["platform"] = JsonWriter.Of(options.Platform);
    }
}
