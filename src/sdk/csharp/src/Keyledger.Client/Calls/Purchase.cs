using System;
using System.Threading.Tasks;
using Keyledger.Client.Text;

namespace Keyledger.Client.Calls;

/// <summary>Looks for what a purchase has changed: the provider tells the vendor of it a few seconds after it.</summary>
internal static class Purchase
{
    private const int Pauses = 10;
    private static readonly TimeSpan pause = TimeSpan.FromSeconds(3);

    /// <summary>Validates until what is granted has changed, for half a minute at most. Whether it has.</summary>
    public static async Task<bool> Refresh(Func<TimeSpan, Task<bool>> paused, Func<State> state, Func<Task> validate)
    {
        var before = Granted(state());
        await validate().ConfigureAwait(false);
        for (var left = Pauses; left > 0 && Granted(state()) == before && await paused(pause).ConfigureAwait(false); left--)
            await validate().ConfigureAwait(false);
        return Granted(state()) != before;
    }

    /// <summary>What a purchase changes: whether there is a license, what it grants, and until when.</summary>
    private static string Granted(State state)
    {
        if (!state.IsGranting) return "";
        var json = StateJson.Of(state);
        return JsonWriter.Write(JsonWriter.Object(
            ("active", JsonWriter.Of(state.IsActive)),
            ("entitlements", json["entitlements"]),
            ("values", json["values"]),
            ("licenseExpiresAt", json["licenseExpiresAt"])));
    }
}
