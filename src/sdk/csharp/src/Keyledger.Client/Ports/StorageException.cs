using System;

namespace Keyledger.Client;

/// <summary>
/// A storage cannot be read or written, and its message says what to do. Calls go on without it, and tell
/// <see cref="ClientOptions.OnError"/>; those that give a text out after it was stored throw it instead.
/// </summary>
public sealed class StorageException : Exception
{
    internal StorageException(string message, Exception? cause = null)
        : base(message, cause)
    {
    }
}
