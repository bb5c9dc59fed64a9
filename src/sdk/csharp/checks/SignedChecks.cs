using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Facts;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>The vectors of what is signed.</summary>
internal static class SignedChecks
{
    public static Place PlaceIn(JsonObject all) => new(all["tenantId"]!.Text!, all["productId"]!.Text!);

    public static Dictionary<string, string> KeysIn(JsonObject all) =>
        all["keyset"]!.Record!["keys"]!.Record!.Entries().ToDictionary(key => key.Key, key => key.Value.Text!);

    public static LeasedDevice? DeviceIn(Json? device) => device?.Record is { } record
        ? new LeasedDevice(
            record["machineHash"]?.Text,
            record["components"]!.Record!.Entries().ToDictionary(part => part.Key, part => part.Value.Text!))
        : null;

    public static (Json, Json) Token(JsonObject all, JsonObject one)
    {
        var parsed = Paseto.Parse(one["token"]?.Text);
        var isGood = parsed is not null && parsed.IsSigned(one["assertion"]!.Text!, Hex.Bytes(all["publicKey"]!.Text!));
        var found = JsonWriter.Object(
            ("valid", JsonWriter.Of(isGood)),
            ("message", isGood ? JsonWriter.Of(Utf8.TextOf(parsed!.Message)) : null),
            ("footer", isGood ? JsonWriter.Of(Utf8.TextOf(parsed!.Footer)) : null));
        return (found, JsonWriter.Object(("valid", one["valid"]), ("message", one["message"]), ("footer", one["footer"])));
    }

    public static (Json, Json) Lease1(JsonObject all, JsonObject one) => Judged(
        Statements.ReadLease(one["lease"], ExpectedIn(all), KeysIn(all), Now(all)).Doubt, one);

    public static (Json, Json) Lease2(JsonObject all, JsonObject one)
    {
        var expected = ExpectedIn(all);
        var read = Lease.Verify(
            one["token"]?.Text, expected.Place, expected.LicenseKeyHash, expected.InstanceId, DeviceIn(all["device"]), KeysIn(all), Now(all));
        var (found, wanted) = Judged(read.Doubt, one);
        if (one["entitlements"] is null) return (found, wanted);
        var granted = new JsonObject();
        foreach (var entry in read.Value!.Entitlements) granted[entry.Key] = entry.Value;
        return (JsonWriter.Object(("as", found), ("grants", granted)), JsonWriter.Object(("as", wanted), ("grants", one["entitlements"])));
    }

    public static (Json, Json) LicenseFile(JsonObject all, JsonObject one)
    {
        var offline = new OfflineFacts(new string('5', 64))
        {
            Asked = new Asked(all["nonce"]!.Text!, all["licenseKeyHash"]!.Text!),
            Released = all["releasedSerial"]!.Seconds!.Value,
        };
        var known = new Known("install", KeysIn(all)) { Offline = offline };
        var taken = Take.Carried(known, one["token"]!.Text!, PlaceIn(all), DeviceIn(all["device"]), Now(all));
        return Judged(taken.As == Taken.Fresh ? null : taken.As, one);
    }

    public static (Json, Json) Withdrawn(JsonObject all, JsonObject one)
    {
        var list = Signed.Withdrawn.Read(one["token"]?.Text, PlaceIn(all), KeysIn(all));
        return (list is null ? JsonNull.Value : JsonWriter.Of(list.Files), one["files"] ?? JsonNull.Value);
    }

    public static (Json, Json) Refusal(JsonObject all, JsonObject one) =>
        Judged(Statements.ReadRefusal(one["refusal"], ExpectedIn(all), KeysIn(all)).Doubt, one);

    public static (Json, Json) Settings(JsonObject all, JsonObject one) => Judged(
        Signed.Settings.Verify(one["settings"], PlaceIn(all), KeysIn(all), Now(all), one["enforce"]?.Flag == true).Doubt, one);

    public static (Json, Json) Request(JsonObject all, JsonObject one)
    {
        var (kind, place) = (one["kind"]!.Text!, PlaceIn(all));
        var assertion = $"keyledger:{kind.ToLowerInvariant()}1:{place.TenantId}:{place.ProductId}";
        // Written anew, so that the writer is checked as well.
        var message = JsonWriter.Write(JsonReader.Read(one["message"]!.Text)!);
        var token = Paseto.SignOwn(message, assertion, Hex.Bytes(all["seed"]!.Text!));
        var back = Armor.TokenIn(one["text"]!.Text!);
        return (
            JsonWriter.Of(new[] { token, Armor.Around(kind, token), back }),
            JsonWriter.Of(new[] { one["token"]!.Text!, one["text"]!.Text!, token }));
    }

    public static (Json, Json) Key(JsonObject all, JsonObject one) =>
        (JsonWriter.Of(Keyset.IsKeyOf(one["kid"]!.Text!, one["publicKey"]?.Text)), one["valid"]!);

    private static Expected ExpectedIn(JsonObject all) =>
        new(PlaceIn(all), all["licenseKeyHash"]!.Text!, all["instanceId"]!.Text!);

    private static long Now(JsonObject all) => all["now"]!.Seconds!.Value;

    private static (Json, Json) Judged(string? doubt, JsonObject one) =>
        (JsonWriter.Of(doubt ?? "valid")!, one["valid"]!.Flag == true ? JsonWriter.Of("valid")! : one["reason"]!);
}
