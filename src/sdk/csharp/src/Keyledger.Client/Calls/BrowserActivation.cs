using System;
using System.Threading.Tasks;
using Keyledger.Client.Text;

namespace Keyledger.Client.Calls;

/// <summary>Lets a person choose a license for this app in the vendor's portal, without typing a key.</summary>
internal static class BrowserActivation
{
    private const string Name = "browser-activations";
    private const long LongestPause = 86_400;

    public static readonly Problem GivenUp = new(ProblemCode.Refused, "no license was chosen in time");
    private static readonly Problem denied = new(ProblemCode.Refused, "the person has chosen no license for this app");

    /// <summary>What the app shows, and how it asks for what was chosen.</summary>
    public sealed record Waiting(ActivationPage Page, string DeviceCode, TimeSpan Pause, long Polls);

    /// <summary>Asks for a page on which a person chooses a license.</summary>
    public static async Task<(Waiting? Waiting, Problem? Problem)> Ask(Operations calls)
    {
        var body = JsonWriter.Object(("device_name", JsonWriter.Of(calls.NameOf(calls.Keeper.Load()))));
        Waiting? waiting = null;
        var problem = await Operations.Send(calls.Servers.Vendor, Name, body, answered =>
        {
            waiting = WaitingIn(answered);
            return Task.FromResult(waiting is null ? Problem.Of(answered) : null);
        }).ConfigureAwait(false);
        return (waiting, problem);
    }

    /// <summary>Asks once what the person has decided: neither a key nor a problem while they have not.</summary>
    public static async Task<(string? Key, Problem? Problem)> Poll(Operations calls, string deviceCode)
    {
        var body = JsonWriter.Object(("device_code", JsonWriter.Of(deviceCode)));
        string? key = null;
        var problem = await Operations.Send(calls.Servers.Vendor, $"{Name}/poll", body, answered =>
        {
            key = KeyIn(answered);
            return Task.FromResult(key is null ? ProblemIn(answered) : null);
        }).ConfigureAwait(false);
        return (key, problem);
    }

    private static Waiting? WaitingIn(Answered answered)
    {
        if (answered.Status != 200 || answered.Body?.Record is not { } body) return null;
        if (body["device_code"]?.Text is not { } deviceCode || body["user_code"]?.Text is not { } code) return null;
        if (body["interval"]?.Seconds is not { } interval || body["expires_in"]?.Seconds is not { } ends) return null;
        // The app opens it, so it is an address of a page and nothing else.
        if (body["verification_uri_complete"]?.Text is not { } url || !IsPage(url)) return null;
        var seconds = Math.Min(LongestPause, Math.Max(1, interval));
        return new Waiting(new ActivationPage(url, code), deviceCode, TimeSpan.FromSeconds(seconds), ends / seconds);
    }

    private static bool IsPage(string url) =>
        url.StartsWith("https://", StringComparison.Ordinal) || url.StartsWith("http://", StringComparison.Ordinal);

    private static string? KeyIn(Answered answered)
    {
        var isChosen = answered.Status == 200 && answered.Body?.Record?["status"]?.Text == "chosen";
        return isChosen ? answered.Body!.Record!["license_key"]?.Text : null;
    }

    private static Problem? ProblemIn(Answered answered) =>
        (answered.Status == 200 ? answered.Body?.Record?["status"]?.Text : null) switch
        {
            "pending" => null,
            "denied" => denied,
            null => Problem.Of(answered),
            _ => GivenUp,
        };
}
