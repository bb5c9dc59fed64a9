using System;
using System.Linq;
using Keyledger.Client.Facts;
using Keyledger.Client.Text;

namespace Keyledger.Client.Checks;

/// <summary>The vectors of what is told to the user of an app.</summary>
internal static class NoticeChecks
{
    public static (Json, Json) Notices(JsonObject all, JsonObject one)
    {
        var found = new JsonArray();
        var (before, after) = (LookIn(one["before"]!.Record!), LookIn(one["after"]!.Record!));
        foreach (var notice in NoticesOf.Looks(before, after, (int)all["expiringDays"]!.Seconds!.Value)) found.Items.Add(notice.Json);
        return (found, one["notices"]!);
    }

    private static Look LookIn(JsonObject look) => new(StateIn(look["state"]!.Record!), look["at"]!.Seconds!.Value);

    /// <summary>What a notice depends on. Clients only write states, so nothing else reads them.</summary>
    private static State StateIn(JsonObject state) => new()
    {
        Status = StatusIn(state["status"]!),
        License = state["license"] is { } license ? StatusIn(license) : null,
        By = SourceIn(state["by"]),
        ExpiredOf = SourceIn(state["of"]),
        LicenseExpiresAtSeconds = state["licenseExpiresAt"]?.Seconds,
        Reason = state["reason"]?.Text,
    };

    private static Status StatusIn(Json name) => Enum.GetValues<Status>().Single(one => StateJson.NameOf(one) == name.Text);

    private static Source? SourceIn(Json? name) =>
        name is null ? null : Enum.GetValues<Source>().Single(one => one.ToString().ToLowerInvariant() == name.Text);
}
