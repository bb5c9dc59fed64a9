using System;

namespace Keyledger.Client;

/// <summary>A text to carry to the vendor.</summary>
/// <param name="Text">To paste or to keep as a file.</param>
/// <param name="Token">The same without lines, for a QR code.</param>
public sealed record CarriedText(string Text, string Token);

/// <summary>What a device signs is given out only when the storage has it, and the storage cannot be written.</summary>
public sealed class StorageException : Exception
{
    internal StorageException()
        : base("the storage cannot be written")
    {
    }
}
