namespace Keyledger.Client;

/// <summary>
/// Where an app keeps what it has to remember: one text. A client uses it from one thread at a time. Any exception means that it cannot
/// be read or written, and goes to <see cref="ClientOptions.OnError"/>.
/// </summary>
public interface IStorage
{
    /// <summary>Reads it.</summary>
    /// <returns>Null when nothing was written yet.</returns>
    string? Read();

    /// <summary>Replaces it. Afterwards it is either the former text or this one, whatever happens.</summary>
    /// <param name="text">What to keep.</param>
    void Write(string text);
}

/// <summary>Remembers until the program ends.</summary>
public sealed class MemoryStorage : IStorage
{
    private string? kept;

    /// <inheritdoc/>
    public string? Read() => kept;

    /// <inheritdoc/>
    public void Write(string text) => kept = text;
}
