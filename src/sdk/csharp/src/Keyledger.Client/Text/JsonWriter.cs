using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Keyledger.Client.Text;

/// <summary>Builds and writes JSON as <c>JSON.stringify</c> does. Only what this SDK has built is written, which is not nested deeply.</summary>
internal static class JsonWriter
{
    /// <summary>The value of a text, or null to leave a member out.</summary>
    public static Json? Of(string? value) => value is null ? null : new JsonText(value);

    /// <summary>The value of a number, or null to leave a member out.</summary>
    public static Json? Of(long? value) => value is { } number ? new JsonNumber(number) : null;

    /// <summary>The value of a flag.</summary>
    public static Json Of(bool value) => new JsonFlag(value);

    /// <summary>An array of texts.</summary>
    public static Json Of(IEnumerable<string> values)
    {
        var array = new JsonArray();
        foreach (var value in values) array.Items.Add(new JsonText(value));
        return array;
    }

    /// <summary>An object of texts.</summary>
    public static Json Of(IEnumerable<KeyValuePair<string, string>> values)
    {
        var record = new JsonObject();
        foreach (var pair in values) record[pair.Key] = new JsonText(pair.Value);
        return record;
    }

    /// <summary>An object of the members that are not null.</summary>
    public static JsonObject Object(params (string Name, Json? Value)[] members)
    {
        var record = new JsonObject();
        foreach (var (name, value) in members) record[name] = value;
        return record;
    }

    /// <summary>The text of a value.</summary>
    public static string Write(Json value)
    {
        var text = new StringBuilder();
        Write(text, value);
        return text.ToString();
    }

    private static void Write(StringBuilder text, Json value)
    {
        switch (value)
        {
            case JsonText one:
                Write(text, one.Value);
                break;
            case JsonNumber one:
                Write(text, one.Value);
                break;
            case JsonFlag one:
                text.Append(one.Value ? "true" : "false");
                break;
            case JsonArray one:
                WriteAll(text, one);
                break;
            case JsonObject one:
                WriteAll(text, one);
                break;
            default:
                text.Append("null");
                break;
        }
    }

    private static void WriteAll(StringBuilder text, JsonArray array)
    {
        text.Append('[');
        for (var at = 0; at < array.Items.Count; at++)
        {
            if (at > 0) text.Append(',');
            Write(text, array.Items[at]);
        }
        text.Append(']');
    }

    private static void WriteAll(StringBuilder text, JsonObject record)
    {
        text.Append('{');
        var isFirst = true;
        foreach (var member in record.Entries())
        {
            if (!isFirst) text.Append(',');
            isFirst = false;
            Write(text, member.Key);
            text.Append(':');
            Write(text, member.Value);
        }
        text.Append('}');
    }

    private static void Write(StringBuilder text, double number)
    {
        if (double.IsNaN(number) || double.IsInfinity(number)) text.Append("null");
        else if (new JsonNumber(number).SafeInteger is { } whole) text.Append(whole.ToString(CultureInfo.InvariantCulture));
        else text.Append(number.ToString("R", CultureInfo.InvariantCulture));
    }

    private static void Write(StringBuilder text, string value)
    {
        text.Append('"');
        for (var at = 0; at < value.Length; at++)
        {
            var character = value[at];
            var isPair = char.IsHighSurrogate(character) && at + 1 < value.Length && char.IsLowSurrogate(value[at + 1]);
            if (isPair) text.Append(character).Append(value[++at]);
            else text.Append(Escaped(character));
        }
        text.Append('"');
    }

    private static string Escaped(char character) => character switch
    {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\b' => "\\b",
        '\f' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        < ' ' => Code(character),
        _ when char.IsSurrogate(character) => Code(character),
        _ => character.ToString(),
    };

    private static string Code(char character) => "\\u" + ((int)character).ToString("x4", CultureInfo.InvariantCulture);
}
