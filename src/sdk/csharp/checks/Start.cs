using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Keyledger.Client.Facts;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>Measures how long it is from the first line of an app with a license to its first state, without a network.</summary>
internal static class Start
{
    /// <summary>Stores the license of the first story, in a process of its own, so that nothing is warm when it is read.</summary>
    public static int Store(string vectors, string file)
    {
        var all = JsonReader.Read(File.ReadAllText(Path.Combine(vectors, "states-leases.json")))!.Record!;
        var first = ((JsonArray)all["cases"]!).Items[0].Record!;
        var step = ((JsonArray)first["steps"]!).Items.First(one => one.Record!["step"]!.Text == "take_proof").Record!;
        var (place, at) = (SignedChecks.PlaceIn(all), step["at"]!.Seconds!.Value);
        var license = new HeldLicense(all["licenseKey"]!.Text!, all["instanceId"]!.Text!);
        var taken = Take.Proof(new Known("install", SignedChecks.KeysIn(all)), step["answer"], license, place, at);
        new FileStorage(file).Write(KnownText.Of(taken.Known.Notice(at)));
        Console.WriteLine($"{place.TenantId} {place.ProductId} {at}");
        return 0;
    }

    /// <summary>Reads it again.</summary>
    public static async Task<int> Run(string tenantId, string productId, string file, long at)
    {
        for (var round = 0; round < 3; round++)
        {
            var clock = Stopwatch.StartNew();
            using var client = new LicenseClient(new ClientOptions(new Place(tenantId, productId), new FileStorage(file))
            {
                BaseUrl = new Uri("http://127.0.0.1:9"),
                SdkKey = "kl_sdk_1",
                Clock = new StandingClock(at),
            });
            var state = await client.Load().ConfigureAwait(false);
            Console.WriteLine($"{state.Status} after {clock.Elapsed.TotalMilliseconds:0.00} ms");
        }
        return 0;
    }

    private sealed class StandingClock(long at) : IClock
    {
        public DateTimeOffset Now => DateTimeOffset.FromUnixTimeSeconds(at);

        public TimeSpan Elapsed => TimeSpan.Zero;

        public Task Delay(TimeSpan pause, CancellationToken cancellation) => Task.Delay(pause, cancellation);
    }
}
