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

    /// <summary>NFKC, which leaves a lone surrogate as it is, where .NET throws.</summary>
    public static string Normalize(string text)
    {
        var normal = new StringBuilder(text.Length);
        var start = 0;
        for (var at = 0; at < text.Length; at++)
        {
            if (!char.IsSurrogate(text[at])) continue;
            if (char.IsHighSurrogate(text[at]) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]))
            {
                at++;
                continue;
            }
            normal.Append(text.Substring(start, at - start).Normalize(NormalizationForm.FormKC)).Append(text[at]);
            start = at + 1;
        }
        return normal.Append(text.Substring(start).Normalize(NormalizationForm.FormKC)).ToString();
    }
}
