using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Keyledger.Client.Text;

/// <summary>Reads JSON as <c>JSON.parse</c> does, without recursion: what is nested deeply cannot overflow the stack.</summary>
internal sealed class JsonReader
{
    private readonly string text;
    private int at;

    private JsonReader(string text) => this.text = text;

    /// <summary>The value of a text; null for what is no JSON.</summary>
    public static Json? Read(string? text)
    {
        if (text is null) return null;
        try
        {
            return new JsonReader(text).Whole();
        }
        catch (FormatException)
        {
            return null;
        }
    }

    /// <summary>The value of bytes in UTF-8, which may begin with a byte order mark; null for what is none.</summary>
    public static Json? Read(byte[] bytes) => Read(Utf8.TextOf(bytes));

    private Json Whole()
    {
        var open = new Stack<Json>();
        var names = new Stack<string>();
        while (true)
        {
            var value = Begin(open, names);
            if (value is null) continue;
            while (true)
            {
                Skip();
                if (open.Count == 0) return at == text.Length ? value : throw new FormatException();
                var isArray = Add(open.Peek(), names, value);
                var next = Next();
                if (next == ',')
                {
                    if (!isArray) names.Push(Name());
                    break;
                }
                if (next != (isArray ? ']' : '}')) throw new FormatException();
                value = open.Pop();
            }
        }
    }

    /// <summary>A whole value; null after the beginning of an array or object with something in it.</summary>
    private Json? Begin(Stack<Json> open, Stack<string> names)
    {
        Skip();
        var first = Peek();
        if (first is not ('[' or '{')) return Scalar(first);
        at++;
        Skip();
        Json container = first == '[' ? new JsonArray() : new JsonObject();
        if (Peek() == (first == '[' ? ']' : '}'))
        {
            at++;
            return container;
        }
        if (first == '{') names.Push(Name());
        open.Push(container);
        return null;
    }

    private static bool Add(Json container, Stack<string> names, Json value)
    {
        if (container is JsonArray array)
        {
            array.Items.Add(value);
            return true;
        }
        ((JsonObject)container)[names.Pop()] = value;
        return false;
    }

    private Json Scalar(char first) => first switch
    {
        '"' => new JsonText(String()),
        't' => Word("true", new JsonFlag(true)),
        'f' => Word("false", new JsonFlag(false)),
        'n' => Word("null", JsonNull.Value),
        _ => Number(),
    };

    private Json Word(string word, Json value)
    {
        if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) throw new FormatException();
        at += word.Length;
        return value;
    }

    private string Name()
    {
        Skip();
        var name = String();
        Skip();
        return Next() == ':' ? name : throw new FormatException();
    }

    private string String()
    {
        if (Next() != '"') throw new FormatException();
        var value = new StringBuilder();
        while (true)
        {
            var character = Next();
            if (character == '"') return value.ToString();
            if (character < ' ') throw new FormatException();
            value.Append(character == '\\' ? Escaped() : character);
        }
    }

    private char Escaped() => Next() switch
    {
        '"' => '"',
        '\\' => '\\',
        '/' => '/',
        'b' => '\b',
        'f' => '\f',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => (char)((Hex() << 12) | (Hex() << 8) | (Hex() << 4) | Hex()),
        _ => throw new FormatException(),
    };

    private int Hex() => Next() switch
    {
        >= '0' and <= '9' and var digit => digit - '0',
        >= 'a' and <= 'f' and var digit => digit - 'a' + 10,
        >= 'A' and <= 'F' and var digit => digit - 'A' + 10,
        _ => throw new FormatException(),
    };

    private JsonNumber Number()
    {
        var start = at;
        if (Peek() == '-') at++;
        if (Peek() == '0') at++;
        else Digits();
        if (Peek() == '.')
        {
            at++;
            Digits();
        }
        if (Peek() is 'e' or 'E')
        {
            at++;
            if (Peek() is '+' or '-') at++;
            Digits();
        }
        return new JsonNumber(Double(text.Substring(start, at - start)));
    }

    private static double Double(string digits)
    {
        try
        {
            return double.Parse(digits, NumberStyles.Float, CultureInfo.InvariantCulture);
        }
        catch (OverflowException)
        {
            return digits[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity;
        }
    }

    private void Digits()
    {
        var start = at;
        while (Peek() is >= '0' and <= '9') at++;
        if (at == start) throw new FormatException();
    }

    private void Skip()
    {
        while (Peek() is ' ' or '\t' or '\n' or '\r') at++;
    }

    /// <summary>A zero, which is nowhere allowed, at the end.</summary>
    private char Peek() => at < text.Length ? text[at] : '\0';

    private char Next() => at < text.Length ? text[at++] : throw new FormatException();
}
