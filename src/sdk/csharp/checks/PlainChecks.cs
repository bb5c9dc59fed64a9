using System.Linq;
using Keyledger.Client.Facts;
using Keyledger.Client.Machine;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>The vectors of what is not signed.</summary>
internal static class PlainChecks
{
    public static (Json, Json) LicenseKey(JsonObject all, JsonObject one)
    {
        var typed = one["typed"]!.Text!;
        var found = JsonWriter.Object(
            ("normalized", JsonWriter.Of(Client.LicenseKey.Normalize(typed))),
            ("hash", JsonWriter.Of(Client.LicenseKey.HashOf(typed))),
            ("valid", JsonWriter.Of(Client.LicenseKey.IsMinted(typed))));
        return (found, JsonWriter.Object(("normalized", one["normalized"]), ("hash", one["hash"]), ("valid", one["valid"])));
    }

    public static (Json, Json) SharedValue(JsonObject all, JsonObject one) =>
        (JsonWriter.Of(SharedValues.IsShared(one["value"]!.Text!)), one["shared"]!);

    public static (Json, Json) Reading(JsonObject all, JsonObject one)
    {
        var machine = ((JsonArray)one["machine"]!).Items.Select(value => value.Text).ToList();
        var parts = one["components"]!.Record!.Entries().ToDictionary(part => part.Key, part => part.Value.Text);
        var identity = new Reading(machine, parts).IdentityIn(SignedChecks.PlaceIn(one));
        var found = JsonWriter.Object(
            ("machineHash", JsonWriter.Of(identity.MachineHash) ?? JsonNull.Value), ("device", JsonWriter.Of(identity.Components)));
        return (found, JsonWriter.Object(("machineHash", one["machineHash"]), ("device", one["device"])));
    }

    public static (Json, Json) Answer(JsonObject all, JsonObject one)
    {
        var waits = Times.RetryAfterMs(one["retryAfter"]?.Text, all["now"]!.Seconds!.Value * 1000);
        var problem = Problem.Of(
            one["status"]!.Seconds is { } status ? new Answered((int)status, one["body"], waits) : null);
        var found = JsonWriter.Object(
            ("code", JsonWriter.Of(problem.Name)),
            ("retryAfterMs", JsonWriter.Of(problem.RetryAfterMs)),
            ("notCovered", problem.NotCovered?.Stored),
            ("waiting", problem.Waiting is { } waiting ? new JsonNumber(waiting) : null));
        var expected = JsonWriter.Object(
            ("code", one["code"]), ("retryAfterMs", one["retryAfterMs"]), ("notCovered", one["notCovered"]), ("waiting", one["waiting"]));
        return (found, expected);
    }
}
