using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Keyledger.Client.KeyStores;

namespace Keyledger.Client.Checks;

/// <summary>The key store of this machine: what is kept in it, and what is said when it is locked or missing.</summary>
internal static class KeyStoreChecks
{
    private static readonly Place place = new("acme, with a \"quote\"", "-editor");
    private static readonly string longText = "{" + string.Concat(Enumerable.Repeat("ü€😀", 5000)) + "}";

    /// <summary>Keeps and replaces texts, in an empty key store.</summary>
    public static async Task<int> Fill()
    {
        var storage = new KeyStoreStorage(place);
        Expect(storage.Read() is null, "a new key store has a text");
        foreach (var text in new[] { "{}", longText, longText + "\n", "{\"short\":1}", "" })
        {
            storage.Write(text);
            Expect(new KeyStoreStorage(place).Read() == text, $"a text of {text.Length} characters is read as another one");
        }
        Expect(Items() == 1, $"{Items()} items are left");
        Expect(new KeyStoreStorage(new Place("acme", "editor")).Read() is null, "another product has the text");
        storage.Write(longText);
        Expect(Items() > 2, "a long text is in one item");
        await OfClient(new Place("acme", "viewer")).ConfigureAwait(false);
        Console.WriteLine("kept");
        return 0;
    }

    /// <summary>Expects an error rather than no text, which would be replaced.</summary>
    public static int Fails()
    {
        var storage = new KeyStoreStorage(place);
        Console.WriteLine(Error(() => storage.Read()));
        Console.WriteLine(Error(() => storage.Write("{}")));
        return 0;
    }

    /// <summary>Expects what <see cref="Fill"/> has left.</summary>
    public static int Kept()
    {
        Expect(new KeyStoreStorage(place).Read() == longText, "the text is another one");
        Console.WriteLine("kept");
        return 0;
    }

    /// <summary>What a client has stored before it gives a text out is there for the next one.</summary>
    private static async Task OfClient(Place place)
    {
        using var client = new LicenseClient(new ClientOptions(place, new KeyStoreStorage(place))
        {
            BaseUrl = new Uri("http://127.0.0.1:9"),
            SdkKey = "kl_sdk_1",
            OnError = error => throw error,
        });
        await client.CreateOfflineRequest("ACME-1").ConfigureAwait(false);
        Expect(new KeyStoreStorage(place).Read()?.Contains("\"nonce\"") == true, "the client has stored nothing");
    }

    private static int Items() => SecretTool.Run("search --all -- service keyledger product -editor", null)
        .Printed.Split('\n').Count(line => line.StartsWith("[", StringComparison.Ordinal));

    private static string Error(Action step)
    {
        try
        {
            step();
            return "no error";
        }
        catch (StorageException error)
        {
            return error.Message;
        }
    }

    private static void Expect(bool isSo, string otherwise)
    {
        if (!isSo) throw new InvalidDataException(otherwise);
    }
}
