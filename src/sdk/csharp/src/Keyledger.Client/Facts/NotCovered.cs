using System;
using Keyledger.Client.Text;

namespace Keyledger.Client.Facts;

/// <summary>What the server says of a build that a license does not cover. It is not signed: it explains, and takes nothing away.</summary>
internal sealed record NotCovered(long UpdatesUntil, Release? NewestRelease)
{
    public Json Stored => JsonWriter.Object(
        ("updatesUntil", JsonWriter.Of(UpdatesUntil)), ("newestRelease", StateJson.Of(NewestRelease)));

    /// <summary>What an answer says of the build; null when it says something else.</summary>
    public static NotCovered? In(Json? answer)
    {
        if (answer?.Record is not { } record || record["reason"]?.Text != "build_not_covered") return null;
        return From(record["updates_until"], record["newest_covered_release"]?.Record, "built_at");
    }

    /// <summary>Reads what was stored.</summary>
    public static NotCovered? From(Json? stored) =>
        From(stored?.Record?["updatesUntil"], stored?.Record?["newestRelease"]?.Record, "builtAt");

    private static NotCovered? From(Json? until, JsonObject? release, string builtAtName)
    {
        if (until?.Seconds is not { } updatesUntil) return null;
        if (release?["version"]?.Text is not { } version || release[builtAtName]?.Seconds is not { } builtAt)
            return new NotCovered(updatesUntil, null);
        // An app may open it, so nothing but the address of a page is handed on.
        var url = release["url"]?.Text is { } text && text.StartsWith("https://", StringComparison.Ordinal) ? text : null;
        return new NotCovered(
            updatesUntil, new Release(version, Times.Shown(builtAt)!.Value, url) { BuiltAtSeconds = builtAt });
    }
}
