using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using Keyledger.Client.Text;

namespace Keyledger.Client.KeyStores;

/// <summary>
/// The Secret Service of Linux. secret-tool cuts a secret off after 8191 bytes without saying so, so a longer text is in several items: the
/// first one says how many there are, and is replaced last.
/// </summary>
internal sealed class SecretService(Place place) : IStorage
{
    private const int MostBytes = 8000;
    private const string First = "first";

    public string? Read()
    {
        // Another process may replace it between two items. What a user has edited counts as nothing.
        string? text = null;
        for (var attempts = 3; attempts > 0 && text is null; attempts--)
        {
            if (Find(First) is not { } first || HeadOf(first) is not { } head) return null;
            text = Whole(head);
        }
        return text;
    }

    public void Write(string text)
    {
        var former = Find(First) is { } first ? HeadOf(first) : null;
        var parts = PartsOf(text);
        var generation = Hex.Random(4);
        for (var at = 1; at < parts.Count; at++) Store(NameOf(generation, at), parts[at]);
        Store(First, $"{generation} {parts.Count.ToString(CultureInfo.InvariantCulture)}\n{parts[0]}");
        for (var at = 1; at < former?.Count; at++) SecretTool.Run($"clear -- {Attributes(NameOf(former.Generation, at))}", null);
    }

    /// <summary>How the first item begins, and the rest of it.</summary>
    private sealed record Head(string Generation, int Count, string Text);

    private static Head? HeadOf(string first)
    {
        var (space, end) = (first.IndexOf(' '), first.IndexOf('\n'));
        return space > 0 && end > space && int.TryParse(first.Substring(space, end - space), out var count)
            ? new Head(first.Substring(0, space), count, first.Substring(end + 1))
            : null;
    }

    private string? Whole(Head head)
    {
        var text = new StringBuilder(head.Text);
        for (var at = 1; at < head.Count; at++)
        {
            if (Find(NameOf(head.Generation, at)) is not { } part) return null;
            text.Append(part);
        }
        return text.ToString();
    }

    private static string NameOf(string generation, int at) => $"{generation}.{at.ToString(CultureInfo.InvariantCulture)}";

    /// <summary>Parts that are short enough, and end with whole characters.</summary>
    private static List<string> PartsOf(string text)
    {
        var (bytes, parts, from) = (Encoding.UTF8.GetBytes(text), new List<string>(), 0);
        do
        {
            var end = Math.Min(bytes.Length, from + MostBytes);
            while (end < bytes.Length && (bytes[end] & 0xc0) == 0x80) end--;
            parts.Add(Encoding.UTF8.GetString(bytes, from, end - from));
            from = end;
        }
        while (from < bytes.Length);
        return parts;
    }

    /// <summary>The secret of an item. secret-tool says the same of an item that is locked and of none, and lists both.</summary>
    private string? Find(string part)
    {
        var attributes = Attributes(part);
        var found = SecretTool.Run($"lookup -- {attributes}", null);
        if (found.Status == 0) return found.Printed;
        var listed = SecretTool.Run($"search -- {attributes}", null);
        if (found.Errors.Length > 0 || listed.Printed.Length > 0)
            throw new StorageException(found.Errors.Length > 0
                ? $"the key store cannot be read: {found.Errors}"
                : "the key store is locked: unlock the keyring of the user, and try again");
        return null;
    }

    private void Store(string part, string secret)
    {
        var label = $"keyledger/{Uri.EscapeDataString(place.TenantId)}/{Uri.EscapeDataString(place.ProductId)}";
        var stored = SecretTool.Run($"store --label={label} -- {Attributes(part)}", secret);
        if (stored.Status != 0) throw new StorageException(
            $"the key store cannot be written: {stored.Errors}; unlock the keyring of the user, and try again");
    }

    /// <summary>Encoded, so that no id is more than one argument.</summary>
    private string Attributes(string part) =>
        $"service keyledger tenant {Uri.EscapeDataString(place.TenantId)} product {Uri.EscapeDataString(place.ProductId)} part {part}";
}
