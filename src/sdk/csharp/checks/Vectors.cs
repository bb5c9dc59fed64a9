using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>Runs the test vectors of docs/reference/vectors, and names each case that fails.</summary>
internal static class Vectors
{
    /// <summary>What each file is checked by: what was found, and what is expected.</summary>
    private static readonly Dictionary<string, Func<JsonObject, JsonObject, (Json Found, Json Expected)>> checks = new()
    {
        ["paseto"] = SignedChecks.Token,
        ["leases"] = SignedChecks.Lease1,
        ["leases2"] = SignedChecks.Lease2,
        ["relays"] = SignedChecks.Lease2,
        ["license-files"] = SignedChecks.LicenseFile,
        ["withdrawn"] = SignedChecks.Withdrawn,
        ["requests"] = SignedChecks.Request,
        ["refusals"] = SignedChecks.Refusal,
        ["settings"] = SignedChecks.Settings,
        ["keys"] = SignedChecks.Key,
        ["license-keys"] = PlainChecks.LicenseKey,
        ["devices"] = PlainChecks.SharedValue,
        ["answers"] = PlainChecks.Answer,
        ["notices"] = NoticeChecks.Notices,
        ["states-leases"] = Stories.Check,
        ["states-trials"] = Stories.Check,
        ["states-files"] = Stories.Check,
        ["states-machines"] = Stories.Check,
    };

    public static int Run(string directory)
    {
        var (passed, failed) = (0, 0);
        foreach (var path in Directory.GetFiles(directory, "*.json").OrderBy(path => path, StringComparer.Ordinal))
        {
            var file = Path.GetFileNameWithoutExtension(path);
            // Webhooks reach servers, and no app.
            if (file == "webhooks") continue;
            var all = JsonReader.Read(File.ReadAllText(path))!.Record!;
            var cases = ((JsonArray)all["cases"]!).Items.Select(one => (one.Record!, checks[file])).ToList();
            if (file == "devices") cases.AddRange(((JsonArray)all["readings"]!).Items.Select(one => (one.Record!, (Func<JsonObject, JsonObject, (Json, Json)>)PlainChecks.Reading)));
            foreach (var (one, check) in cases)
            {
                if (Passes(file, all, one, check)) passed++;
                else failed++;
            }
        }
        Console.WriteLine($"{passed} passed, {failed} failed");
        return failed == 0 && passed > 0 ? 0 : 1;
    }

    private static bool Passes(string file, JsonObject all, JsonObject one, Func<JsonObject, JsonObject, (Json Found, Json Expected)> check)
    {
        string told;
        try
        {
            var (found, expected) = check(all, one);
            if (IsEqual(found, expected)) return true;
            told = $"{JsonWriter.Write(found)}\n  and not {JsonWriter.Write(expected)}";
        }
        catch (Exception error)
        {
            told = error.ToString();
        }
        Console.WriteLine($"FAILED {file}: {one["name"]?.Text}\n  {told}");
        return false;
    }

    private static bool IsEqual(Json one, Json other) => (one, other) switch
    {
        (JsonArray a, JsonArray b) => a.Items.Count == b.Items.Count && a.Items.Zip(b.Items, IsEqual).All(same => same),
        (JsonObject a, JsonObject b) => a.Count == b.Count && a.Entries().All(member => b[member.Key] is { } value && IsEqual(member.Value, value)),
        _ => Json.IsSame(one, other),
    };
}
