using Keyledger.Client.Text;

namespace Keyledger.Client;

/// <summary>A state in the words of all clients, which the vectors compare.</summary>
internal static class StateJson
{
    public static string NameOf(Status status) => status switch
    {
        Status.NotCovered => "not_covered",
        Status.AnotherDevice => "another_device",
        _ => status.ToString().ToLowerInvariant(),
    };

    public static JsonObject Of(State state)
    {
        var json = JsonWriter.Object(
            ("status", JsonWriter.Of(NameOf(state.Status))),
            ("license", state.License is { } license ? JsonWriter.Of(NameOf(license)) : null),
            ("by", NameOf(state.By)),
            ("until", JsonWriter.Of(state.UntilSeconds)));
        AddGrant(json, state);
        json["of"] = NameOf(state.ExpiredOf);
        json["reason"] = JsonWriter.Of(state.Reason);
        json["at"] = JsonWriter.Of(state.AtSeconds);
        json["updatesUntil"] = JsonWriter.Of(state.UpdatesUntilSeconds);
        json["newestRelease"] = Of(state.NewestRelease);
        json["trialDays"] = JsonWriter.Of(state.TrialDays);
        if (state.Status is Status.Expired or Status.Revoked or Status.NotCovered or Status.AnotherDevice)
            json["freeTier"] = JsonWriter.Of(state.FreeTier);
        json["clockSetBack"] = JsonWriter.Of(state.ClockSetBack);
        return json;
    }

    /// <summary>A release; null for none.</summary>
    public static JsonObject? Of(Release? release) => release is null ? null : JsonWriter.Object(
        ("version", JsonWriter.Of(release.Version)),
        ("builtAt", JsonWriter.Of(release.BuiltAtSeconds)),
        ("url", OrNull(JsonWriter.Of(release.Url))));

    private static void AddGrant(JsonObject json, State state)
    {
        var values = new JsonObject();
        foreach (var pair in state.Values) values[pair.Key] = pair.Value;
        if (state.ExpiredOf is Source.Lease or Source.File)
            json["allowed"] = JsonWriter.Object(("entitlements", JsonWriter.Of(state.Entitlements)), ("values", values));
        if (!state.IsGranting) return;
        json["entitlements"] = JsonWriter.Of(state.Entitlements);
        json["values"] = values;
        json["licenseExpiresAt"] = OrNull(JsonWriter.Of(state.LicenseExpiresAtSeconds));
        if (state.Holder is { } holder)
            json["holder"] = JsonWriter.Object(
                ("name", OrNull(JsonWriter.Of(holder.Name))), ("email", OrNull(JsonWriter.Of(holder.Email))));
        json["graceUntil"] = JsonWriter.Of(state.GraceUntilSeconds);
    }

    private static Json OrNull(Json? value) => value ?? JsonNull.Value;

    private static Json? NameOf(Source? source) =>
        source is { } one ? JsonWriter.Of(one.ToString().ToLowerInvariant()) : null;
}
