using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using Keyledger.Client.Facts;
using Keyledger.Client.Machine;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>
/// Reads arbitrary bytes with everything that reads foreign ones. None may throw, take longer than a second, or grant something: what is
/// read is made of the vectors, with keys that have signed none of it.
/// </summary>
internal sealed class Fuzz
{
    private const int MostMs = 1000;
    private const int HangMs = 60_000;

    private readonly Random random;
    private readonly List<byte[]> seeds;
    private readonly Place place;
    private readonly Dictionary<string, string> keys;

    private Fuzz(int seed, string directory)
    {
        random = new Random(seed);
        var texts = Directory.GetFiles(directory, "*.json").Select(path => JsonReader.Read(File.ReadAllText(path))!).ToList();
        seeds = texts.SelectMany(TextsIn).Distinct().Select(Encoding.UTF8.GetBytes).ToList();
        var all = texts.First(one => one.Record?["keyset"] is not null).Record!;
        place = SignedChecks.PlaceIn(all);
        // The same ids, with a key that has signed nothing.
        var stranger = Convert.ToBase64String(Ed25519.PublicKeyOf(Hex.Bytes(new string('7', 64))));
        keys = SignedChecks.KeysIn(all).Keys.ToDictionary(kid => kid, _ => stranger);
    }

    public static int Run(string directory, double seconds, int seed)
    {
        var fuzz = new Fuzz(seed, directory);
        var (clock, runs) = (Stopwatch.StartNew(), 0L);
        while (clock.Elapsed.TotalSeconds < seconds)
        {
            var bytes = fuzz.Mutated();
            using var hang = new Timer(_ => Environment.Exit(Failed(seed, bytes, "hangs")), null, HangMs, Timeout.Infinite);
            try
            {
                // Again, since it may have been the machine that was slow.
                for (var times = 1; fuzz.MsFor(bytes) > MostMs; times++)
                    if (times == 3) return Failed(seed, bytes, $"took more than {MostMs} ms");
            }
            catch (Exception error)
            {
                return Failed(seed, bytes, error.ToString());
            }
            runs++;
        }
        Console.WriteLine($"{runs} texts read, 0 failed");
        return runs > 0 ? 0 : 1;
    }

    private static int Failed(int seed, byte[] bytes, string why)
    {
        Console.WriteLine($"FAILED with seed {seed}: {why}\n{Convert.ToBase64String(bytes)}");
        return 1;
    }

    private long MsFor(byte[] bytes)
    {
        var clock = Stopwatch.StartNew();
        Read(bytes);
        return clock.ElapsedMilliseconds;
    }

    private void Read(byte[] bytes)
    {
        var text = Encoding.UTF8.GetString(bytes);
        var json = JsonReader.Read(bytes) ?? new JsonText(text);
        if (JsonReader.Read(text) is { } value && TextsIn(value).All(one => one.Length < 100_000) && Depth(value) < 500)
            RoundTrip(value);
        var known = new Known("install", keys);
        var asked = new HeldLicense("ACME-1", "ins_1");
        var body = JsonWriter.Object(("lease2", new JsonText(text)), ("lease", json), ("refusal", random.Next(2) == 0 ? json : null));
        Expect(Take.Proof(known, body, asked, place, 0).As != Taken.Fresh, "a proof is taken");
        Expect(Take.Proof(known, json, asked, place, 0).As != Taken.Fresh, "an answer is taken");
        Expect(Take.Carried(known, Armor.TokenIn(text), place, null, 0).As != Taken.Fresh, "a file is taken");
        var settings = Take.Settings(known, json, place, 0, false);
        Expect(settings.Known.Settings?.TrialDurationDays is null, "a trial length is taken");
        var read = KnownText.Read(text, place, keys);
        if (read is not null)
        {
            var state = StateOf.Facts(read, 1_793_530_000, new Circumstances(false, null, 0, 14));
            Expect(!state.IsGranting, "a stored license grants something");
            _ = state.ToString() + state.Until + state.At;
            _ = KnownText.Read(KnownText.Of(read), place, keys) ?? throw new InvalidDataException("what was stored is not read again");
        }
        var problem = Problem.Of(new Answered(random.Next(100, 600), json, null));
        _ = problem.RetryAfter;
        _ = problem.UpdatesUntil;
        _ = problem.NewestRelease;
        _ = Times.RetryAfterMs(text, 0);
        _ = LicenseKey.Normalize(text) + LicenseKey.HashOf(text) + LicenseKey.IsMinted(text);
        _ = SharedValues.IsShared(text);
        _ = MacMachine.From(text, text).IdentityIn(place);
        _ = WindowsMachine.From(text, text).IdentityIn(place);
        _ = Keyset.IsKeyOf("k", text);
        Expect(!Ed25519.IsSigned(bytes, bytes.Take(64).ToArray(), Ed25519.PublicKeyOf(Hex.Bytes(new string('7', 64)))), "it is signed");
    }

    private static void RoundTrip(Json value)
    {
        var written = JsonWriter.Write(value);
        Expect(JsonWriter.Write(JsonReader.Read(written)!) == written, "what was written is read as something else");
    }

    private static int Depth(Json value)
    {
        var (deepest, open) = (0, new Stack<(Json Value, int Depth)>(new[] { (value, 1) }));
        while (open.Count > 0)
        {
            var (one, depth) = open.Pop();
            deepest = Math.Max(deepest, depth);
            foreach (var inner in Inside(one)) open.Push((inner, depth + 1));
        }
        return deepest;
    }

    private static IEnumerable<Json> Inside(Json value) => value switch
    {
        JsonArray array => array.Items,
        JsonObject record => record.Entries().Select(entry => entry.Value),
        _ => Enumerable.Empty<Json>(),
    };

    private static void Expect(bool isSo, string otherwise)
    {
        if (!isSo) throw new InvalidDataException(otherwise);
    }

    private static List<string> TextsIn(Json value)
    {
        var (found, open) = (new List<string>(), new Stack<Json>(new[] { value }));
        while (open.Count > 0)
        {
            var one = open.Pop();
            if (one is JsonText { Value.Length: > 20 } text) found.Add(text.Value);
            else if (one is JsonObject { Count: < 40 } record && Depth(record) < 6) found.Add(JsonWriter.Write(record));
            foreach (var inner in Inside(one)) open.Push(inner);
        }
        return found;
    }

    private byte[] Mutated()
    {
        var bytes = seeds[random.Next(seeds.Count)].ToList();
        for (var times = random.Next(6); times > 0; times--) Mutate(bytes);
        return bytes.ToArray();
    }

    private void Mutate(List<byte> bytes)
    {
        var at = random.Next(bytes.Count + 1);
        switch (random.Next(6))
        {
            case 0 when at < bytes.Count:
                bytes[at] ^= (byte)(1 << random.Next(8));
                break;
            case 1:
                bytes.RemoveRange(at, Math.Min(random.Next(40), bytes.Count - at));
                break;
            case 2:
                bytes.InsertRange(at, Encoding.UTF8.GetBytes(tokens[random.Next(tokens.Length)]));
                break;
            case 3:
                var other = seeds[random.Next(seeds.Count)];
                var from = random.Next(other.Length);
                bytes.InsertRange(at, other.Skip(from).Take(random.Next(80)));
                break;
            case 4 when random.Next(50) == 0:
                bytes.InsertRange(at, Enumerable.Repeat((byte)"[{\"-"[random.Next(4)], 60_000));
                break;
            default:
                var part = new byte[random.Next(8)];
                random.NextBytes(part);
                bytes.InsertRange(at, part);
                break;
        }
    }

    private static readonly string[] tokens =
    {
        "null", "true", "1e999", "-0", "9007199254740993", "1e3", "\"\\ud800\"", "\"__proto__\":", "[[[[", "}}}}", "\u0130", "ß", "\ufeff",
        "v4.public.", "|", "0", "-1", "1.0", "\"\"", "2026-02-30T00:00:00Z", "{\"token\":", ",", ":", "-----",
    };
}
