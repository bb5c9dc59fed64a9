using System;
using System.Collections.Generic;
using System.IO;
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
        while (await Console.In.ReadLineAsync().ConfigureAwait(false) is { } line)
        {
            var step = JsonReader.Read(line)!.Record!;
            clock.Now = DateTimeOffset.FromUnixTimeMilliseconds(step["now"]!.Seconds!.Value);
            if (step["do"]!.Text == "open")
            {
                client?.Dispose();
                client = new LicenseClient(OptionsIn(step, clock));
            }
            var answer = await Done(client!, step).ConfigureAwait(false);
            answer["state"] = StateJson.Of(client!.State);
            Console.Out.WriteLine(JsonWriter.Write(answer));
        }
        client?.Dispose();
        return 0;
    }

    private static ClientOptions OptionsIn(JsonObject step, IClock clock) =>
        new(SignedChecks.PlaceIn(step), new FileStorage(step["storage"]!.Text!))
        {
            BaseUrl = new Uri(step["baseUrl"]!.Text!),
            SdkKey = step["sdkKey"]!.Text,
            Identity = _ => Task.FromResult(new DeviceIdentity(step["machineHash"]!.Text)),
            Clock = clock,
            OnError = error => Console.Error.WriteLine(error),
        };

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
            case "request":
                return Carried(await client.CreateOfflineRequest(text).ConfigureAwait(false));
            case "release":
                return Carried(await client.Release().ConfigureAwait(false));
            default:
                var outcome = await Called(client, step["do"]!.Text!, text).ConfigureAwait(false);
                return JsonWriter.Object(("problem", JsonWriter.Of(outcome.Problem?.Name)));
        }
    }

    private static Task<Outcome> Called(LicenseClient client, string name, string text) => name switch
    {
        "activate" => client.Activate(text),
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
