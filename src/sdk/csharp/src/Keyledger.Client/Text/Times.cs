using System;
using System.Globalization;

namespace Keyledger.Client.Text;

/// <summary>Times as they are signed, stored and shown: Unix seconds inside, <see cref="DateTimeOffset"/> for apps.</summary>
internal static class Times
{
    /// <summary>The seconds of a time in RFC 3339, in UTC and whole seconds; null for any other text.</summary>
    public static long? SecondsOf(Json? value)
    {
        if (value?.Text is not { Length: 20 } text) return null;
        const string form = "dddd-dd-ddTdd:dd:ddZ";
        for (var at = 0; at < form.Length; at++)
            if (form[at] == 'd' ? text[at] is < '0' or > '9' : text[at] != form[at]) return null;
        int Part(int at, int length) => int.Parse(text.Substring(at, length), CultureInfo.InvariantCulture);
        var (month, day, hour, minute, second) = (Part(5, 2), Part(8, 2), Part(11, 2), Part(14, 2), Part(17, 2));
        // As in JavaScript: any month has 31 days, and a day ends with 24:00:00.
        if (month is < 1 or > 12 || day is < 1 or > 31 || minute > 59 || second > 59) return null;
        if (hour > 24 || (hour == 24 && minute + second > 0)) return null;
        return ((DaysOf(Part(0, 4), month) + day - 1) * 24 + hour) * 3600 + minute * 60 + second;
    }

    /// <summary>The days from 1970 to the first of a month, also for the year 0, which DateTime has not.</summary>
    private static long DaysOf(int year, int month)
    {
        var shifted = month > 2 ? year : year - 1;
        var era = (shifted >= 0 ? shifted : shifted - 399) / 400;
        var ofEra = shifted - era * 400;
        var ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
        return era * 146097L + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719468;
    }

    /// <summary>The time in RFC 3339, as JavaScript prints it.</summary>
    public static string Iso(long seconds) =>
        Shown(seconds)!.Value.UtcDateTime.ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture);

    /// <summary>The time for an app, at most that which .NET can hold.</summary>
    public static DateTimeOffset? Shown(long? seconds) => seconds is { } one
        ? DateTimeOffset.FromUnixTimeSeconds(Math.Max(-62135596800, Math.Min(253402300799, one)))
        : null;

    /// <summary>Reads Retry-After: seconds or a date. Milliseconds from now, at most a day; null when it is neither.</summary>
    public static long? RetryAfterMs(string? header, long nowMs)
    {
        if (header is null) return null;
        var text = JsText.Trim(header);
        long ms;
        if (text.Length is > 0 and < 10 && IsDigits(text)) ms = long.Parse(text, CultureInfo.InvariantCulture) * 1000;
        else if (DateTimeOffset.TryParseExact(text, dateForms, CultureInfo.InvariantCulture, dateStyle, out var date))
            ms = date.ToUnixTimeMilliseconds() - nowMs;
        else return null;
        return Math.Min(Math.Max(0, ms), 86_400_000);
    }

    private const DateTimeStyles dateStyle = DateTimeStyles.AssumeUniversal | DateTimeStyles.AllowWhiteSpaces;

    /// <summary>The three forms of a date of HTTP.</summary>
    private static readonly string[] dateForms =
        { "ddd, dd MMM yyyy HH:mm:ss 'GMT'", "dddd, dd-MMM-yy HH:mm:ss 'GMT'", "ddd MMM d HH:mm:ss yyyy" };

    private static bool IsDigits(string text)
    {
        foreach (var character in text)
            if (character is < '0' or > '9') return false;
        return true;
    }
}
