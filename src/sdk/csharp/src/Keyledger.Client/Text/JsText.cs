using System;
using System.Text;

namespace Keyledger.Client.Text;

/// <summary>What JavaScript does with texts, where .NET does something else.</summary>
internal static class JsText
{
    /// <summary>Whether <c>\s</c> of JavaScript matches.</summary>
    public static bool IsSpace(char character) =>
        character is (>= '\t' and <= '\r') or ' ' or '\u00a0' or '\u1680' or (>= '\u2000' and <= '\u200a')
            or '\u2028' or '\u2029' or '\u202f' or '\u205f' or '\u3000' or '\ufeff';

    /// <summary>Without white space at both ends.</summary>
    public static string Trim(string text)
    {
        var (start, end) = (0, text.Length);
        while (start < end && IsSpace(text[start])) start++;
        while (end > start && IsSpace(text[end - 1])) end--;
        return text.Substring(start, end - start);
    }

    /// <summary>Without the characters that a test names.</summary>
    public static string Without(string text, Func<char, bool> isLeftOut)
    {
        var kept = new StringBuilder(text.Length);
        foreach (var character in text)
            if (!isLeftOut(character)) kept.Append(character);
        return kept.ToString();
    }

    /// <summary>Lower case, also of the two letters that .NET leaves to cultures.</summary>
    public static string Lower(string text)
    {
        var lower = new StringBuilder(text.Length);
        var invariant = text.ToLowerInvariant();
        for (var at = 0; at < text.Length; at++)
        {
            var isFinal = text[at] == 'Σ' && at > 0 && char.IsLetter(text[at - 1])
                && !(at + 1 < text.Length && char.IsLetter(text[at + 1]));
            if (text[at] == 'İ') lower.Append("i\u0307");
            else lower.Append(isFinal ? 'ς' : invariant[at]);
        }
        return lower.ToString();
    }

    /// <summary>NFKC, which leaves lone surrogates and what is no character as they are, where .NET throws.</summary>
    public static string Normalize(string text)
    {
        var normal = new StringBuilder(text.Length);
        var start = 0;
        for (var at = 0; at < text.Length; at++)
        {
            var isPair = char.IsHighSurrogate(text[at]) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]);
            var point = isPair ? char.ConvertToUtf32(text[at], text[at + 1]) : text[at];
            var length = isPair ? 2 : 1;
            if (IsNoCharacter(point))
            {
                normal.Append(Normal(text.Substring(start, at - start))).Append(text, at, length);
                start = at + length;
            }
            at += length - 1;
        }
        return normal.Append(Normal(text.Substring(start))).ToString();
    }

    private static bool IsNoCharacter(int point) =>
        point is (>= 0xd800 and < 0xe000) or (>= 0xfdd0 and <= 0xfdef) || (point & 0xfffe) == 0xfffe;

    private static string Normal(string text)
    {
        try
        {
            return text.Normalize(NormalizationForm.FormKC);
        }
        catch (ArgumentException)
        {
            // A system whose tables are older than a character: no license key has it.
            return text;
        }
    }
}
