using System;
using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Facts;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>Plays a story of the vectors: from an empty storage, the state after each step.</summary>
internal sealed class Stories
{
    private readonly Place place;
    private readonly Dictionary<string, string> keys;
    private readonly JsonObject all;
    private readonly JsonObject story;
    private readonly LeasedDevice? device;
    private Known known;

    private Stories(JsonObject all, JsonObject story)
    {
        (this.all, this.story) = (all, story);
        (place, keys) = (SignedChecks.PlaceIn(all), SignedChecks.KeysIn(all));
        device = SignedChecks.DeviceIn(story["device"]);
        known = new Known("install", keys);
    }

    public static (Json, Json) Check(JsonObject all, JsonObject story)
    {
        var told = new Stories(all, story);
        var (found, expected) = (new JsonArray(), new JsonArray());
        foreach (var one in ((JsonArray)story["steps"]!).Items)
        {
            found.Items.Add(told.Happens(one.Record!));
            expected.Items.Add(JsonWriter.Object(("as", one.Record!["as"]), ("state", one.Record!["state"])));
        }
        return (found, expected);
    }

    private JsonObject Happens(JsonObject step)
    {
        var at = step["at"]!.Seconds!.Value;
        var taken = Taken(step, at);
        known = taken.Known.Notice(at);
        var around = new Circumstances(
            step["failing"]?.Flag == true, device, story["builtAt"]?.Seconds, story["defaultTrialDays"]?.Seconds);
        return JsonWriter.Object(
            ("as", JsonWriter.Of(taken.As)), ("state", StateJson.Of(StateOf.Facts(known, at, around))));
    }

    private (Known Known, string? As) Taken(JsonObject step, long at)
    {
        var answer = step["answer"];
        var (key, instance) = (
            step["licenseKey"]?.Text ?? all["licenseKey"]!.Text!, step["instanceId"]?.Text ?? all["instanceId"]!.Text!);
        switch (step["step"]!.Text)
        {
            case "wait":
                return (known, null);
            case "restart":
                return (KnownText.Read(KnownText.Of(known), place, keys) ?? new Known("none", new Dictionary<string, string>()), null);
            case "take_proof":
                return Of(Take.Proof(known, answer, new HeldLicense(key, instance), place, at));
            case "take_settings":
                return Of(Take.Settings(known, answer, place, at, story["enforceSettings"]?.Flag == true));
            case "start_trial":
                return (Take.BeginTrial(known, at), null);
            case "take_trial":
                return (Take.Trial(known, answer), null);
            case "take_not_covered":
                return (Take.BuildNotCovered(known, answer), null);
            case "ask_for_file":
                return (known with { Offline = Offline with { Asked = new Asked(step["nonce"]!.Text!, LicenseKey.HashOf(key)) } }, null);
            case "take_file":
                return Of(Take.Carried(known with { Offline = Offline }, step["token"]!.Text!, place, device, at));
            case "leave":
                return (Take.Leave(known, instance), null);
            case "give_seat_back":
                return (Take.SeatBack(known), null);
            default:
                throw new InvalidOperationException($"the step {step["step"]!.Text} is not known");
        }
    }

    private OfflineFacts Offline => known.Offline ?? new OfflineFacts(all["seed"]!.Text!);

    /// <summary>What is not taken leaves the facts as they were.</summary>
    private (Known, string?) Of(Taken taken) =>
        (taken.As is Facts.Taken.Fresh or Facts.Taken.Same or Facts.Taken.Stale ? taken.Known : known, taken.As);
}
