using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Keyledger.Client.Facts;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Calls;

/// <summary>Asks for license files, takes them, and gives them back.</summary>
internal static class Offline
{
    private static readonly Dictionary<string, (ProblemCode Code, string Message)> problems = new()
    {
        [Doubts.Malformed] = (ProblemCode.Malformed, "this is neither a license file nor a list of withdrawn files"),
        [Doubts.UnknownKey] = (ProblemCode.UnknownKey, "it was signed with a key that this app does not know"),
        [Doubts.BadSignature] = (ProblemCode.BadSignature, "it was changed on the way, or was made for another product"),
        [Doubts.AnotherDevice] = (ProblemCode.AnotherDevice, "it was made for another machine"),
        [Doubts.NotAsked] = (ProblemCode.NotAsked, "it answers another request than the last one of this device"),
        [Doubts.Outdated] = (ProblemCode.Outdated, "it is older than what this device has, or was given back"),
        [Doubts.NotYet] = (ProblemCode.NotYet, "the clock of this machine is before it"),
        [Doubts.Over] = (ProblemCode.Over, "it has ended; ask for the next one"),
    };

    /// <summary>
    /// Asks for a license file. The request is stored before it is given out, so that none repeats a counter, and its answer is known
    /// after a restart.
    /// </summary>
    public static CarriedText CreateRequest(Operations calls, string key)
    {
        var keeper = calls.Keeper;
        var known = keeper.Load().WithOffline();
        // The time, so that a machine that was restored from a backup is not behind its own earlier requests.
        var counter = Math.Max(known.Offline!.Counter + 1, keeper.Now);
        var asked = new Asked(Hex.Random(16), LicenseKey.HashOf(key));
        var offline = known.Offline with { Counter = counter, Asked = asked };
        Store(calls, facts => facts with { Offline = offline });
        var device = offline.MachineOf(calls.Device);
        return Signed(calls, "REQUEST", offline, JsonWriter.Object(
            ("iat", Iat(keeper)),
            ("nonce", JsonWriter.Of(asked.Nonce)),
            ("counter", JsonWriter.Of(counter)),
            ("license_key_hash", JsonWriter.Of(asked.LicenseKeyHash)),
            ("instance_name", JsonWriter.Of(calls.NameOf(known))),
            ("device", JsonWriter.Object(
                ("machine_hash", JsonWriter.Of(device.MachineHash) ?? JsonNull.Value), ("components", JsonWriter.Of(device.Components))))));
    }

    /// <summary>Takes a text that was carried here: the answer to the last request, or a list of withdrawn files.</summary>
    public static async Task<Problem?> Import(Operations calls, string text)
    {
        calls.Keeper.Load();
        var token = Armor.TokenIn(text);
        var taken = await calls.TakeSigned((known, now) => Take.Carried(known, token, calls.Place, calls.Device, now)).ConfigureAwait(false);
        return problems.TryGetValue(taken, out var problem) ? new Problem(problem.Code, problem.Message) : null;
    }

    /// <summary>
    /// Gives the license file and its seat back: the device stops using both before it gives the text out. Null without a file for this
    /// machine; the same again for one that was given back before.
    /// </summary>
    public static CarriedText? GiveBack(Operations calls)
    {
        if (calls.Keeper.Load().Offline is not { File: { } file } offline || !offline.IsForMachine(file, calls.Device)) return null;
        if (offline.Usable is not null) Store(calls, facts => Take.Leave(facts, file.InstanceId));
        return Signed(calls, "RELEASE", offline, JsonWriter.Object(
            ("iat", Iat(calls.Keeper)),
            ("instance_id", JsonWriter.Of(file.InstanceId)),
            ("serial", JsonWriter.Of(file.Serial)),
            ("fence", file.File!.Fence)));
    }

    private static void Store(Operations calls, Func<Known, Known> step)
    {
        if (!calls.Keeper.Change((known, _) => step(known))) throw new StorageException("the storage cannot be written");
    }

    private static Json? Iat(Keeper keeper) => JsonWriter.Of(Times.Iso(keeper.Now));

    private static CarriedText Signed(Operations calls, string kind, OfflineFacts offline, JsonObject claims)
    {
        var place = calls.Place;
        var assertion = $"keyledger:{kind.ToLowerInvariant()}1:{place.TenantId}:{place.ProductId}";
        var token = Paseto.SignOwn(JsonWriter.Write(claims), assertion, Hex.Bytes(offline.Seed));
        return new CarriedText(Armor.Around(kind, token), token);
    }
}
