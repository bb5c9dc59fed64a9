using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>
/// An app that is told what to do: a line of JSON for each step, and a line with what it has led to for each answer. The time is in the
/// steps, and pauses are over at once.
/// </summary>
internal static class StoryProgram
{
    public static async Task<int> Run()
    {
        LicenseClient? client = null;
        var clock = new ToldClock();
        var notices = new JsonArray();
        while (await Console.In.ReadLineAsync().ConfigureAwait(false) is { } line)
        {
            var step = JsonReader.Read(line)!.Record!;
            clock.Now = DateTimeOffset.FromUnixTimeMilliseconds(step["now"]!.Seconds!.Value);
            if (step["do"]!.Text == "open")
            {
                client?.Dispose();
                client = new LicenseClient(OptionsIn(step, clock));
                client.SubscribeToNotices(notice => notices.Items.Add(notice.Json));
            }
            var answer = await Done(client!, step).ConfigureAwait(false);
            answer["state"] = StateJson.Of(client!.State);
            answer["notices"] = notices;
            Console.Out.WriteLine(JsonWriter.Write(answer));
            notices.Items.Clear();
        }
        client?.Dispose();
        return 0;
    }

    private static ClientOptions OptionsIn(JsonObject step, IClock clock)
    {
        var components = TextsIn(step["components"]);
        var hasIdentity = step["machineHash"] is not null || components.Count > 0;
        return new(SignedChecks.PlaceIn(step), new FileStorage(step["storage"]!.Text!))
        {
            BaseUrl = step["baseUrl"]?.Text is { } address ? new Uri(address) : null,
            SdkKey = step["sdkKey"]?.Text,
            Keys = TextsIn(step["keys"]),
            Identity = hasIdentity ? _ => Task.FromResult(new DeviceIdentity(step["machineHash"]?.Text, components)) : null,
            AppBuiltAt = step["appBuiltAt"]?.Seconds is { } built ? DateTimeOffset.FromUnixTimeSeconds(built) : null,
            RequireSignedSettings = step["enforceSettings"]?.Flag == true,
            DefaultTrialDays = (int?)step["defaultTrialDays"]?.Seconds,
            UserId = step["userId"]?.Text,
            DeviceName = step["deviceName"]?.Text,
            Clock = clock,
            OnError = error => Console.Error.WriteLine(error),
        };
    }

    private static Dictionary<string, string> TextsIn(Json? record) =>
        record?.Record?.Entries().ToDictionary(entry => entry.Key, entry => entry.Value.Text!) ?? new();

    private static async Task<JsonObject> Done(LicenseClient client, JsonObject step)
    {
        var text = step["text"]?.Text ?? "";
        switch (step["do"]!.Text)
        {
            case "open":
                var before = client.State;
                await client.Load().ConfigureAwait(false);
                return JsonWriter.Object(("before", StateJson.Of(before)));
            case "look":
                return new JsonObject();
            case "has":
                return JsonWriter.Object(("granted", JsonWriter.Of(client.Has(text))));
            case "value":
                return JsonWriter.Object(("value", Valued(client.Value(text))));
            case "refreshAfterPurchase":
                return JsonWriter.Object(("changed", JsonWriter.Of(await client.RefreshAfterPurchase().ConfigureAwait(false))));
            case "request":
                return Carried(await client.CreateOfflineRequest(text).ConfigureAwait(false));
            case "release":
                return Carried(await client.Release().ConfigureAwait(false));
            default:
                var outcome = await Called(client, step["do"]!.Text!, text).ConfigureAwait(false);
                return JsonWriter.Object(("problem", JsonWriter.Of(outcome.Problem?.Name)));
        }
    }

    private static Json? Valued(object? value) => value switch
    {
        double number => new JsonNumber(number),
        string text => JsonWriter.Of(text),
        bool flag => JsonWriter.Of(flag),
        _ => null,
    };

    private static Task<Outcome> Called(LicenseClient client, string name, string text) => name switch
    {
        "activate" => client.Activate(text),
        "activateInBrowser" => client.ActivateInBrowser(_ => { }),
        "validate" => client.Validate(),
        "startTrial" => client.StartTrial(),
        "deactivate" => client.Deactivate(),
        "importLicense" => client.ImportLicense(text),
        "borrow" => client.Borrow(TimeSpan.FromSeconds(long.Parse(text))),
        "close" => client.Close(),
        _ => throw new InvalidDataException(name),
    };

    private static JsonObject Carried(CarriedText? carried) => JsonWriter.Object(("text", JsonWriter.Of(carried?.Text)));

    private sealed class ToldClock : IClock
    {
        public DateTimeOffset Now { get; set; }

        public TimeSpan Elapsed => TimeSpan.FromMilliseconds(Now.ToUnixTimeMilliseconds());

        public Task Delay(TimeSpan pause, CancellationToken cancellation) =>
            Task.Delay(pause < TimeSpan.FromSeconds(15) ? TimeSpan.Zero : pause, cancellation);
    }
}
