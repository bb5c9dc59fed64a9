using System;
using System.Security.Cryptography;
using System.Text;

namespace Keyledger.Client.Text;

/// <summary>UTF-8, base64 and hex as JavaScript reads and writes them.</summary>
internal static class Utf8
{
    private static readonly UTF8Encoding strict = new(false, true);

    /// <summary>The bytes of a text; a lone surrogate becomes U+FFFD.</summary>
    public static byte[] Of(string text) => Encoding.UTF8.GetBytes(text);

    /// <summary>The text of bytes, without a byte order mark; null when they are no UTF-8.</summary>
    public static string? TextOf(byte[] bytes)
    {
        var hasMark = bytes.Length >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf;
        try
        {
            return hasMark ? strict.GetString(bytes, 3, bytes.Length - 3) : strict.GetString(bytes);
        }
        catch (ArgumentException)
        {
            return null;
        }
    }
}

internal static class Base64
{
    /// <summary>The bytes of canonical base64; null for anything else: another spelling of the same bytes is not what was sent.</summary>
    public static byte[]? Bytes(string? base64)
    {
        if (base64 is null) return null;
        try
        {
            var bytes = Convert.FromBase64String(base64);
            return string.Equals(Convert.ToBase64String(bytes), base64, StringComparison.Ordinal) ? bytes : null;
        }
        catch (FormatException)
        {
            return null;
        }
    }

    /// <summary>The bytes of base64 in any spelling that <c>atob</c> reads; null for anything else.</summary>
    public static byte[]? AnyBytes(string base64)
    {
        var text = new StringBuilder(base64.Length);
        foreach (var character in base64)
            if (character is not (' ' or '\t' or '\n' or '\f' or '\r')) text.Append(character);
        if (text.Length % 4 == 0)
            for (var most = 2; most > 0 && text.Length > 0 && text[text.Length - 1] == '='; most--) text.Length--;
        if (text.Length % 4 == 1 || text.ToString().IndexOf('=') >= 0) return null;
        text.Append('=', (4 - text.Length % 4) % 4);
        try
        {
            return Convert.FromBase64String(text.ToString());
        }
        catch (FormatException)
        {
            return null;
        }
    }

    /// <summary>The bytes of base64url without padding, in its only spelling.</summary>
    public static byte[]? UrlBytes(string text) =>
        text.IndexOfAny(new[] { '+', '/', '=' }) >= 0
            ? null
            : Bytes(text.Replace('-', '+').Replace('_', '/') + new string('=', (4 - text.Length % 4) % 4));

    /// <summary>Base64url without padding.</summary>
    public static string Url(byte[] bytes) =>
        Convert.ToBase64String(bytes).Replace('+', '-').Replace('/', '_').TrimEnd('=');
}

internal static class Hex
{
    /// <summary>Lower-case hex.</summary>
    public static string Of(byte[] bytes)
    {
        var text = new StringBuilder(bytes.Length * 2);
        foreach (var one in bytes) text.Append(one.ToString("x2"));
        return text.ToString();
    }

    /// <summary>The bytes of hex that was checked before.</summary>
    public static byte[] Bytes(string hex)
    {
        var bytes = new byte[hex.Length / 2];
        for (var at = 0; at < bytes.Length; at++) bytes[at] = Convert.ToByte(hex.Substring(at * 2, 2), 16);
        return bytes;
    }

    /// <summary>So many random bytes.</summary>
    public static string Random(int count)
    {
        var bytes = new byte[count];
        using var random = RandomNumberGenerator.Create();
        random.GetBytes(bytes);
        return Of(bytes);
    }
}

internal static class Sha256
{
    /// <summary>The SHA-256 of a text in UTF-8.</summary>
    public static byte[] Of(string text) => Of(Utf8.Of(text));

    /// <summary>The SHA-256 of bytes.</summary>
    public static byte[] Of(byte[] bytes)
    {
        using var hash = SHA256.Create();
        return hash.ComputeHash(bytes);
    }
}
