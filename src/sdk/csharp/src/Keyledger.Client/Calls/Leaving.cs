using System;
using System.Threading.Tasks;
using Keyledger.Client.Facts;
using Keyledger.Client.Text;

namespace Keyledger.Client.Calls;

/// <summary>Gives seats back, and borrows them.</summary>
internal static class Leaving
{
    private static readonly Problem noLicense = new(ProblemCode.NoLicense, "there is no license on this device");

    /// <summary>Gives the seat back, and forgets the license. A borrowed seat is given back with the device's signature.</summary>
    public static async Task<Problem?> Deactivate(Operations calls)
    {
        var known = calls.Keeper.Load();
        var (license, file) = (known.License, known.Offline?.Usable);
        var hasFile = file is not null && file.InstanceId == (license?.InstanceId ?? file.InstanceId) && calls.Keeper.Now <= file.ExpiresAt;
        if (hasFile && license?.Fence is null)
            return new Problem(ProblemCode.HasFile, "the device has a license file; give it back with Release");
        if (license is null) return noLicense;
        var release = hasFile ? Offline.GiveBack(calls) : null;
        var body = Operations.OfSeat(license);
        body["release"] = JsonWriter.Of(release?.Text);
        var problem = await Send(calls, license, body, 3).ConfigureAwait(false);
        if (problem is null) calls.Keeper.Change((facts, _) => Take.Leave(facts, license.InstanceId));
        return problem;
    }

    /// <summary>
    /// Gives a floating seat back, so that others have it at once; the license stays. What does not reach the server runs out by itself.
    /// </summary>
    public static async Task<Problem?> GiveSeatBack(Operations calls)
    {
        var known = calls.Keeper.Load();
        if (known.License is not { Fence: not null } license || known.Offline?.Usable?.InstanceId == license.InstanceId) return null;
        // Before it is sent: a seat that may be another's must not be used here.
        calls.Keeper.Change((facts, _) => Take.SeatBack(facts));
        return await Send(calls, license, Operations.OfSeat(license), 1).ConfigureAwait(false);
    }

    /// <summary>Borrows the seat of this device for a time without a network: as a license file, which the vendor's server alone gives.</summary>
    public static async Task<Problem?> Borrow(Operations calls, TimeSpan length)
    {
        if (calls.Keeper.Load().License is not { } license) return noLicense;
        var request = Offline.CreateRequest(calls, license.Key);
        var asked = JsonWriter.Object(
            ("borrow_seconds", JsonWriter.Of((long)Math.Floor(length.TotalSeconds))), ("borrow_request", JsonWriter.Of(request.Text)));
        var problem = await calls.ActivateAt(calls.Servers.Vendor, license.Key, asked, 3, body => body["license_file"]?.Text is { } file
            ? Offline.Import(calls, file)
            : Task.FromResult<Problem?>(new Problem(ProblemCode.Refused, "the license server lends no seats; its version is too old")))
            .ConfigureAwait(false);
        calls.Keeper.Reached(problem is null);
        return problem;
    }

    private static Task<Problem?> Send(Operations calls, HeldLicense license, JsonObject body, int attempts) => Operations.Send(
        calls.Servers.That(license.Relay), "deactivate", body, answered =>
        {
            var isDone = answered.Status == 200 && answered.Body?.Record?["deactivated"]?.Flag == true;
            return Task.FromResult(isDone || HasNoSeat(answered) ? null : (Problem?)Problem.Of(answered));
        }, attempts);

    /// <summary>The seat does not exist any more, or never did. Without a reason, 422 means that it must not be freed.</summary>
    private static bool HasNoSeat(Answered answered)
    {
        if (answered.Body?.Record is not { } body || body["error"]?.Text is not { } error) return false;
        var isOfLicense = body["reason"]?.Text == "not_found" || error == "instance not found";
        return (answered.Status == 422 && body["reason"] is not null) || (answered.Status == 404 && isOfLicense);
    }
}
