using System;
using Keyledger.Client.Text;
using Curve = Org.BouncyCastle.Math.EC.Rfc8032.Ed25519;

namespace Keyledger.Client.Signed;

/// <summary>Ed25519 strictly by RFC 8032: non-canonical signatures and keys of low order are rejected.</summary>
internal static class Ed25519
{
    /// <summary>The prime 2^255 - 19, its lowest byte first.</summary>
    private static readonly byte[] prime = Hex.Bytes("ed" + Repeated("ff", 30) + "7f");

    /// <summary>The heights of the points whose order divides eight: 0, 1, -1, and the two of order eight.</summary>
    private static readonly byte[][] lowHeights =
    {
        new byte[32],
        Hex.Bytes("01" + Repeated("00", 31)),
        Hex.Bytes("ec" + Repeated("ff", 30) + "7f"),
        Hex.Bytes("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        Hex.Bytes("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    };

    /// <summary>Whether the key has signed the message; false for a signature or key that is none. Never throws.</summary>
    public static bool IsSigned(byte[] message, byte[]? signature, byte[]? publicKey)
    {
        if (signature is not { Length: 64 } || publicKey is not { Length: 32 }) return false;
        if (!IsCanonical(publicKey) || !IsCanonical(signature) || IsLow(publicKey)) return false;
        try
        {
            return Curve.Verify(signature, 0, publicKey, 0, message, 0, message.Length);
        }
        catch (Exception)
        {
            return false;
        }
    }

    /// <summary>Signs with a seed of 32 bytes.</summary>
    public static byte[] Sign(byte[] message, byte[] seed)
    {
        var signature = new byte[Curve.SignatureSize];
        Curve.Sign(seed, 0, message, 0, message.Length, signature, 0);
        return signature;
    }

    /// <summary>The raw public key of a seed.</summary>
    public static byte[] PublicKeyOf(byte[] seed)
    {
        var key = new byte[Curve.PublicKeySize];
        Curve.GeneratePublicKey(seed, 0, key, 0);
        return key;
    }

    /// <summary>Whether the height of the point in the first 32 bytes is below the prime.</summary>
    private static bool IsCanonical(byte[] point)
    {
        for (var at = 31; at >= 0; at--)
        {
            var height = at == 31 ? point[at] & 0x7f : point[at];
            if (height != prime[at]) return height < prime[at];
        }
        return false;
    }

    private static bool IsLow(byte[] point) => Array.Exists(lowHeights, low =>
    {
        for (var at = 0; at < 32; at++)
            if (low[at] != (at == 31 ? point[at] & 0x7f : point[at])) return false;
        return true;
    });

    private static string Repeated(string text, int count) => new System.Text.StringBuilder().Insert(0, text, count).ToString();
}
