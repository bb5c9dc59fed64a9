using System;
using System.Diagnostics;
using System.IO;
using System.Threading.Tasks;

namespace Keyledger.Client.Checks;

/// <summary>Measures how long it is from the first line of an app to its first state, without a network.</summary>
internal static class Start
{
    public static async Task<int> Run(string directory)
    {
        var clock = Stopwatch.StartNew();
        for (var round = 0; round < 5; round++)
        {
            clock.Restart();
            using var client = new LicenseClient(new ClientOptions(new Place("acme", "editor"), new FileStorage(Path.Combine(directory, "license.json")))
            {
                BaseUrl = new Uri("http://127.0.0.1:9"),
                SdkKey = "kl_sdk_1",
            });
            var state = await client.Load().ConfigureAwait(false);
            Console.WriteLine($"{state.Status} after {clock.Elapsed.TotalMilliseconds:0.00} ms");
        }
        return 0;
    }
}
