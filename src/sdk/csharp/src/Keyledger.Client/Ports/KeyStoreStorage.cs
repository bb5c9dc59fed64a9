using System;
using System.Runtime.InteropServices;
using Keyledger.Client.KeyStores;

namespace Keyledger.Client;

/// <summary>
/// Keeps it in the key store of the system rather than in a file: in the Keychain on macOS, in the Secret Service on Linux, through the
/// program secret-tool, and on Windows in a file that only its user can decrypt. Unlike <see cref="FileStorage"/> it needs a user who has
/// signed in, and the system may ask the user to unlock it, for which a call waits.
/// </summary>
/// <example><code>
/// var place = new Place("acme", "editor");
/// using var client = new LicenseClient(new ClientOptions(place, new KeyStoreStorage(place)) { BaseUrl = address, SdkKey = "kl_sdk_1" });
/// </code></example>
public sealed class KeyStoreStorage : IStorage
{
    private readonly IStorage system;
    private bool isUnknown;

    /// <summary>Keeps what belongs to a product; nothing is read yet.</summary>
    /// <param name="place">Each product has a text of its own.</param>
    /// <exception cref="PlatformNotSupportedException">On systems without a key store: use <see cref="FileStorage"/> there.</exception>
    public KeyStoreStorage(Place place)
    {
        var of = place ?? throw new ArgumentNullException(nameof(place));
        if (RuntimeInformation.IsOSPlatform(OSPlatform.Linux)) system = new SecretService(of);
        else if (RuntimeInformation.IsOSPlatform(OSPlatform.OSX)) system = new Keychain(of);
        else if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows)) system = new ProtectedFile(of);
        else throw new PlatformNotSupportedException("this system has no key store; use FileStorage");
    }

    /// <inheritdoc/>
    /// <exception cref="StorageException">When the key store is locked, or cannot be reached. Its message says what to do.</exception>
    public string? Read()
    {
        isUnknown = true;
        var text = system.Read();
        isUnknown = false;
        return text;
    }

    /// <inheritdoc/>
    /// <exception cref="StorageException">When the key store is locked, or cannot be reached. Its message says what to do.</exception>
    public void Write(string text)
    {
        // A license may be in a store that was locked when it was read, and is not any more.
        if (isUnknown) throw new StorageException("the key store could not be read, so nothing in it is replaced; read it again");
        system.Write(text);
    }
}
