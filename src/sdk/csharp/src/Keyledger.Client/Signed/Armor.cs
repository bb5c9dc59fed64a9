using System.Text;
using System.Text.RegularExpressions;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>Tokens as texts to paste or to keep as files.</summary>
internal static class Armor
{
    private static readonly Regex edges = new("-----[A-Z ]+-----", RegexOptions.CultureInvariant);

    /// <summary>The text of a token, in lines of 64 characters between two that name it.</summary>
    public static string Around(string kind, string token)
    {
        var text = new StringBuilder($"-----BEGIN KEYLEDGER {kind}-----\n");
        for (var at = 0; at < token.Length; at += 64)
            text.Append(token, at, System.Math.Min(64, token.Length - at)).Append('\n');
        return text.Append($"-----END KEYLEDGER {kind}-----\n").ToString();
    }

    /// <summary>The token in a text that was pasted or read from a file, also without its first and last line.</summary>
    public static string TokenIn(string text) => JsText.Without(edges.Replace(text, ""), JsText.IsSpace);
}
