using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using Keyledger.Client.Text;

namespace Keyledger.Client.KeyStores;

/// <summary>A file that Windows encrypts for its user (DPAPI): a copy is worth nothing to another user, or on another machine.</summary>
internal sealed class ProtectedFile(Place place) : IStorage
{
    private const int WithoutQuestions = 1;
    private const int InvalidData = 13;

    private readonly FileStorage file = new(PathOf(place));

    /// <summary>What was copied here from elsewhere, or edited, counts as nothing.</summary>
    public string? Read() =>
        Base64.Bytes(file.Read()) is { } stored && Changed(stored, false) is { } bytes ? Encoding.UTF8.GetString(bytes) : null;

    public void Write(string text) => file.Write(Convert.ToBase64String(Changed(Encoding.UTF8.GetBytes(text), true)!));

    /// <summary>A hash, since no id has to be the name of a file.</summary>
    private static string PathOf(Place place)
    {
        var folder = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData, Environment.SpecialFolderOption.Create);
        var name = Hex.Of(Sha256.Of($"{Uri.EscapeDataString(place.TenantId)}/{Uri.EscapeDataString(place.ProductId)}"));
        return Path.Combine(folder, "keyledger", $"{name}.dat");
    }

    /// <summary>The bytes encrypted, or decrypted again; null for what was not encrypted here.</summary>
    private static byte[]? Changed(byte[] bytes, bool isProtecting)
    {
        var given = new Blob { Length = bytes.Length, Data = Marshal.AllocHGlobal(bytes.Length) };
        try
        {
            Marshal.Copy(bytes, 0, given.Data, bytes.Length);
            var isDone = isProtecting
                ? Protect(ref given, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, WithoutQuestions, out var changed)
                : Unprotect(ref given, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, WithoutQuestions, out changed);
            if (!isDone)
            {
                var error = Marshal.GetLastWin32Error();
                return !isProtecting && error == InvalidData
                    ? null
                    : throw new StorageException($"Windows cannot use the key of this user (error {error}): sign in again, or use FileStorage");
            }
            var result = new byte[changed.Length];
            Marshal.Copy(changed.Data, result, 0, result.Length);
            _ = Free(changed.Data);
            return result;
        }
        finally
        {
            Marshal.FreeHGlobal(given.Data);
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Blob
    {
        public int Length;
        public IntPtr Data;
    }

    [DllImport("crypt32", EntryPoint = "CryptProtectData", SetLastError = true)]
    private static extern bool Protect(
        ref Blob given, IntPtr description, IntPtr entropy, IntPtr reserved, IntPtr prompt, int flags, out Blob changed);

    [DllImport("crypt32", EntryPoint = "CryptUnprotectData", SetLastError = true)]
    private static extern bool Unprotect(
        ref Blob given, IntPtr description, IntPtr entropy, IntPtr reserved, IntPtr prompt, int flags, out Blob changed);

    [DllImport("kernel32", EntryPoint = "LocalFree")]
    private static extern IntPtr Free(IntPtr data);
}
