using System;
using Keyledger.Client.Text;

namespace Keyledger.Client;

/// <summary>What has happened to the license.</summary>
public enum NoticeKind
{
    /// <summary>It goes on for longer than was known, or again after its end.</summary>
    Renewed,

    /// <summary>It is good again after it was withdrawn, or was not good here.</summary>
    Restored,

    /// <summary>It was withdrawn: <see cref="Notice.Reason"/> says why.</summary>
    Revoked,

    /// <summary>It ends soon. This is told once in a run of the app for each end.</summary>
    Expiring,
}

/// <summary>What has happened to the license, for a message to the user of the app. What does not belong to its kind is null.</summary>
public sealed record Notice
{
    internal Notice(NoticeKind kind) => Kind = kind;

    /// <summary>What has happened.</summary>
    public NoticeKind Kind { get; }

    /// <summary>With <see cref="NoticeKind.Renewed"/> and <see cref="NoticeKind.Expiring"/>: when the license ends; null when it does not.</summary>
    public DateTimeOffset? LicenseExpiresAt => Times.Shown(LicenseExpiresAtSeconds);

    /// <summary>With <see cref="NoticeKind.Revoked"/>: revoked, suspended, reminted, inactive or withdrawn.</summary>
    public string? Reason { get; internal init; }

    internal long? LicenseExpiresAtSeconds { get; init; }

    /// <summary>The notice as JSON, in the words of all clients: for logs and support.</summary>
    /// <returns>One line.</returns>
    public override string ToString() => JsonWriter.Write(Json);

    internal JsonObject Json
    {
        get
        {
            var json = JsonWriter.Object(("notice", JsonWriter.Of(Kind.ToString().ToLowerInvariant())), ("reason", JsonWriter.Of(Reason)));
            if (Kind is NoticeKind.Renewed or NoticeKind.Expiring)
                json["licenseExpiresAt"] = JsonWriter.Of(LicenseExpiresAtSeconds) ?? JsonNull.Value;
            return json;
        }
    }
}
