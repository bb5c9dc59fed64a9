using System;
using System.Collections.Generic;

namespace Keyledger.Client.Text;

/// <summary>
/// A JSON value as JavaScript reads it. This SDK reads JSON itself: System.Text.Json is a package with seven others on
/// netstandard2.0, which Unity would have to load, and it refuses lone surrogates and deep nesting, which other clients read.
/// </summary>
internal abstract class Json
{
    /// <summary>The members of an object; null for any other value.</summary>
    public JsonObject? Record => this as JsonObject;

    /// <summary>The text of a string; null for any other value.</summary>
    public string? Text => (this as JsonText)?.Value;

    /// <summary>Text that is not empty and does not hold the separator of signed strings.</summary>
    public string? Field => Text is { Length: > 0 } text && text.IndexOf('|') < 0 ? text : null;

    /// <summary>A whole number that a double holds exactly, as Number.isSafeInteger of JavaScript says.</summary>
    public long? SafeInteger => this is JsonNumber { Value: var number }
        && Math.Abs(number) <= 9007199254740991d && Math.Floor(number) == number
        ? (long)number
        : null;

    /// <summary>A safe integer that is not negative: Unix seconds, mostly.</summary>
    public long? Seconds => SafeInteger is >= 0 and var seconds ? seconds : null;

    /// <summary>True or false; null for any other value.</summary>
    public bool? Flag => (this as JsonFlag)?.Value;

    /// <summary>Whether <c>===</c> of JavaScript says so of two values that were read apart; null stands for undefined.</summary>
    public static bool IsSame(Json? one, Json? other) => (one, other) switch
    {
        (null, null) => true,
        (JsonText a, JsonText b) => string.Equals(a.Value, b.Value, StringComparison.Ordinal),
        (JsonNumber a, JsonNumber b) => a.Value == b.Value,
        (JsonFlag a, JsonFlag b) => a.Value == b.Value,
        (JsonNull, JsonNull) => true,
        _ => false,
    };
}

internal sealed class JsonNull : Json
{
    public static readonly JsonNull Value = new();
}

internal sealed class JsonFlag(bool value) : Json
{
    public bool Value { get; } = value;
}

internal sealed class JsonNumber(double value) : Json
{
    public double Value { get; } = value;
}

internal sealed class JsonText(string value) : Json
{
    public string Value { get; } = value;
}

internal sealed class JsonArray : Json
{
    public List<Json> Items { get; } = new();
}

/// <summary>The members of an object: of one name, the last counts; in the order of JavaScript, which puts whole numbers first.</summary>
internal sealed class JsonObject : Json
{
    private readonly Dictionary<string, Json> members = new(StringComparer.Ordinal);
    private readonly List<string> names = new();

    /// <summary>The member with this name; null when there is none. Setting null leaves it out.</summary>
    public Json? this[string name]
    {
        get => members.TryGetValue(name, out var value) ? value : null;
        set
        {
            if (value is null) return;
            if (!members.ContainsKey(name)) names.Add(name);
            members[name] = value;
        }
    }

    /// <summary>How many members there are.</summary>
    public int Count => members.Count;

    /// <summary>The members in their order.</summary>
    public IEnumerable<KeyValuePair<string, Json>> Entries()
    {
        var numbers = new SortedDictionary<uint, string>();
        foreach (var name in names)
            if (IndexOf(name) is { } index) numbers[index] = name;
        foreach (var name in numbers.Values) yield return new(name, members[name]);
        foreach (var name in names)
            if (IndexOf(name) is null) yield return new(name, members[name]);
    }

    private static uint? IndexOf(string name)
    {
        if (name.Length is 0 or > 10 || (name[0] == '0' && name.Length > 1)) return null;
        foreach (var character in name)
            if (character is < '0' or > '9') return null;
        return ulong.Parse(name) is < uint.MaxValue and var index ? (uint)index : null;
    }
}
