namespace Keyledger.Client.Signed;

/// <summary>What was verified, or why it must not be believed.</summary>
internal readonly struct Checked<T>
{
    private Checked(T? value, string? doubt) => (Value, Doubt) = (value, doubt);

    /// <summary>Only to be used without a doubt.</summary>
    public T? Value { get; }

    /// <summary>One of <see cref="Doubts"/>; null for what was verified.</summary>
    public string? Doubt { get; }

    public static implicit operator Checked<T>(T value) => new(value, null);

    public static implicit operator Checked<T>(string doubt) => new(default, doubt);
}

/// <summary>Why something that was signed must not be believed, in the words of the vectors.</summary>
internal static class Doubts
{
    public const string Malformed = "malformed";
    public const string UnknownKey = "unknown_key";
    public const string BadSignature = "bad_signature";
    public const string AnotherLicense = "another_license";
    public const string AnotherInstance = "another_instance";
    public const string AnotherDevice = "another_device";
    public const string Unsigned = "unsigned";
    public const string Outdated = "outdated";
    public const string NotAsked = "not_asked";
    public const string NotYet = "not_yet";
    public const string Over = "over";
}
