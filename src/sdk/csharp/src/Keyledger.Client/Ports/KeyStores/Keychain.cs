using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Keyledger.Client.KeyStores;

/// <summary>The Keychain of macOS, with the functions that need no dictionaries of Core Foundation.</summary>
internal sealed class Keychain(Place place) : IStorage
{
    private const string Security = "/System/Library/Frameworks/Security.framework/Security";
    private const string CoreFoundation = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation";
    private const int NotFound = -25300;

    private readonly byte[] service = Encoding.UTF8.GetBytes("keyledger");
    private readonly byte[] account =
        Encoding.UTF8.GetBytes($"{Uri.EscapeDataString(place.TenantId)}/{Uri.EscapeDataString(place.ProductId)}");

    public string? Read()
    {
        var status = Find(out var text, out var item);
        if (status == NotFound) return null;
        Expect(status, "read");
        Release(item);
        return text;
    }

    public void Write(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        var status = Find(out _, out var item);
        if (status == NotFound)
        {
            Expect(AddPassword(IntPtr.Zero, Length(service), service, Length(account), account, Length(bytes), bytes, IntPtr.Zero), "written");
            return;
        }
        Expect(status, "read");
        var written = ModifyItem(item, IntPtr.Zero, Length(bytes), bytes);
        Release(item);
        Expect(written, "written");
    }

    private int Find(out string text, out IntPtr item)
    {
        text = "";
        var status = FindPassword(
            IntPtr.Zero, Length(service), service, Length(account), account, out var length, out var data, out item);
        if (status != 0) return status;
        var bytes = new byte[length];
        Marshal.Copy(data, bytes, 0, bytes.Length);
        _ = FreeContent(IntPtr.Zero, data);
        text = Encoding.UTF8.GetString(bytes);
        return status;
    }

    private static uint Length(byte[] bytes) => (uint)bytes.Length;

    private static void Expect(int status, string what)
    {
        if (status != 0)
            throw new StorageException($"the Keychain cannot be {what} (error {status}): unlock it, and allow this app to use its item");
    }

    [DllImport(Security, EntryPoint = "SecKeychainFindGenericPassword")]
    private static extern int FindPassword(
        IntPtr keychain, uint serviceLength, byte[] service, uint accountLength, byte[] account, out uint length, out IntPtr data, out IntPtr item);

    [DllImport(Security, EntryPoint = "SecKeychainAddGenericPassword")]
    private static extern int AddPassword(
        IntPtr keychain, uint serviceLength, byte[] service, uint accountLength, byte[] account, uint length, byte[] data, IntPtr item);

    [DllImport(Security, EntryPoint = "SecKeychainItemModifyAttributesAndData")]
    private static extern int ModifyItem(IntPtr item, IntPtr attributes, uint length, byte[] data);

    [DllImport(Security, EntryPoint = "SecKeychainItemFreeContent")]
    private static extern int FreeContent(IntPtr attributes, IntPtr data);

    [DllImport(CoreFoundation, EntryPoint = "CFRelease")]
    private static extern void Release(IntPtr item);
}
