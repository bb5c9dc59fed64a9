using System;
using System.Collections.Generic;
using System.IO;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>
/// A token of the kind <c>v4.public</c> of PASETO: a message that Ed25519 signs, a footer that anyone can read, and an assertion that
/// is signed but not sent.
/// </summary>
internal sealed class Paseto
{
    private const string Header = "v4.public.";

    private Paseto(byte[] message, byte[] signature, byte[] footer) =>
        (Message, Signature, Footer) = (message, signature, footer);

    public byte[] Message { get; }

    public byte[] Signature { get; }

    public byte[] Footer { get; }

    /// <summary>What stands in clear beside the message, before anything is verified.</summary>
    public JsonObject? FooterClaims => JsonReader.Read(Footer)?.Record;

    /// <summary>Takes a token apart without verifying it; null for what is none, also in another spelling of the same bytes.</summary>
    public static Paseto? Parse(string? token)
    {
        if (token is null || !token.StartsWith(Header, StringComparison.Ordinal)) return null;
        var parts = token.Substring(Header.Length).Split('.');
        if (parts.Length > 2) return null;
        var signed = Base64.UrlBytes(parts[0]);
        var footer = Base64.UrlBytes(parts.Length == 2 ? parts[1] : "");
        if (signed is not { Length: >= 64 } || footer is null) return null;
        var message = new byte[signed.Length - 64];
        var signature = new byte[64];
        Array.Copy(signed, message, message.Length);
        Array.Copy(signed, message.Length, signature, 0, 64);
        return new Paseto(message, signature, footer);
    }

    /// <summary>Whether the token was signed with this key, for this assertion. Never throws.</summary>
    public bool IsSigned(string assertion, byte[]? publicKey) =>
        Ed25519.IsSigned(Authenticated(Message, Footer, assertion), Signature, publicKey);

    /// <summary>The claims of a token that this key has signed for this assertion, or why it cannot be used.</summary>
    public Checked<JsonObject> ReadSigned(string assertion, byte[]? publicKey)
    {
        if (!IsSigned(assertion, publicKey)) return Doubts.BadSignature;
        return JsonReader.Read(Message)?.Record is { } claims ? claims : Doubts.Malformed;
    }

    /// <summary>Reads a statement that one of the tenant's keys has signed, with the id of the key.</summary>
    public static Checked<SignedClaims> ReadStatement(
        Paseto? token, string assertion, IReadOnlyDictionary<string, string> keys)
    {
        if (token?.FooterClaims?["kid"]?.Text is not { } kid) return Doubts.Malformed;
        if (!keys.TryGetValue(kid, out var key)) return Doubts.UnknownKey;
        var read = token.ReadSigned(assertion, Base64.Bytes(key));
        return read.Value is { } claims ? new SignedClaims(kid, claims, null) : read.Doubt!;
    }

    /// <summary>Signs a statement of a device with its own key, whose public part is in the footer.</summary>
    public static string SignOwn(string message, string assertion, byte[] seed)
    {
        var publicKey = Base64.Url(Ed25519.PublicKeyOf(seed));
        var footer = Utf8.Of(JsonWriter.Write(JsonWriter.Object(("pk", JsonWriter.Of(publicKey)))));
        var bytes = Utf8.Of(message);
        var signature = Ed25519.Sign(Authenticated(bytes, footer, assertion), seed);
        var body = new byte[bytes.Length + signature.Length];
        bytes.CopyTo(body, 0);
        signature.CopyTo(body, bytes.Length);
        return $"{Header}{Base64.Url(body)}.{Base64.Url(footer)}";
    }

    /// <summary>What is signed: the parts with their number and lengths before them, so that none can take bytes of another.</summary>
    private static byte[] Authenticated(byte[] message, byte[] footer, string assertion)
    {
        var parts = new[] { Utf8.Of(Header), message, footer, Utf8.Of(assertion) };
        using var all = new MemoryStream();
        // A writer is little-endian on every machine.
        using var writer = new BinaryWriter(all);
        writer.Write((long)parts.Length);
        foreach (var part in parts)
        {
            writer.Write((long)part.Length);
            writer.Write(part);
        }
        writer.Flush();
        return all.ToArray();
    }
}

/// <summary>The claims of a statement, the id of the key that signed or certified it, and the relay that signed it, if one did.</summary>
internal sealed record SignedClaims(string Kid, JsonObject Claims, string? Relay);
