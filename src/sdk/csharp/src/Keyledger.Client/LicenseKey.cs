using System;
using Keyledger.Client.Text;

namespace Keyledger.Client;

/// <summary>License keys as people type them.</summary>
public static class LicenseKey
{
    private const string Alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    /// <summary>
    /// Normalizes a typed license key: NFKC, upper case, without white space and hyphens. In a key that keyledger minted, which its
    /// check character shows, O becomes 0, and I and L become 1.
    /// </summary>
    /// <param name="typed">What a person has typed.</param>
    /// <returns>The form that is hashed and sent to nobody.</returns>
    /// <exception cref="ArgumentNullException">Without a text.</exception>
    public static string Normalize(string typed)
    {
        var upper = UpperCase.Of(JsText.Normalize(typed ?? throw new ArgumentNullException(nameof(typed))));
        var text = JsText.Without(upper, character => character == '-' || JsText.IsSpace(character));
        var read = text.Replace('O', '0').Replace('I', '1').Replace('L', '1');
        return HasFormOfMinted(read) ? read : text;
    }

    /// <summary>
    /// Whether a typed key is one that keyledger has minted, and is complete: it has their form, and its check character is right. A key
    /// that a vendor has brought along has neither, so this is a hint for the person who types, and no reason to refuse a key.
    /// </summary>
    /// <param name="typed">What a person has typed.</param>
    /// <returns>True for a minted key without a slip.</returns>
    /// <exception cref="ArgumentNullException">Without a text.</exception>
    /// <example><code>
    /// if (!LicenseKey.IsMinted(typedKey)) Console.WriteLine("Please check the license key");
    /// </code></example>
    public static bool IsMinted(string typed) => HasFormOfMinted(Normalize(typed));

    /// <summary>What stands for a license key in leases and license files: the SHA-256 of its normalized form.</summary>
    /// <param name="typed">What a person has typed.</param>
    /// <returns>64 hex digits.</returns>
    /// <exception cref="ArgumentNullException">Without a text.</exception>
    public static string HashOf(string typed) => Hex.Of(Sha256.Of(Normalize(typed)));

    private static bool HasFormOfMinted(string text)
    {
        var prefix = text.Length - 26;
        if (prefix is < 2 or > 8) return false;
        var sum = 0;
        for (var at = 0; at < text.Length; at++)
        {
            var character = text[at];
            if (at < prefix)
            {
                if (character is not ((>= 'A' and <= 'Z') or (>= '0' and <= '9'))) return false;
                continue;
            }
            var value = Alphabet.IndexOf(character);
            if (value < 0) return false;
            if ((text.Length - 1 - at) % 2 == 1) value *= 2;
            sum += value / 32 + value % 32;
        }
        return sum % 32 == 0;
    }
}
