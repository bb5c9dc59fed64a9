using System;
using System.Linq;
using System.Text.RegularExpressions;
using Keyledger.Client.Text;

namespace Keyledger.Client.Machine;

/// <summary>
/// Serial numbers, ids and addresses that many machines have in common. The list is that of all clients, which the vectors hold.
/// </summary>
internal static class SharedValues
{
    private static readonly string[] values =
    {
        // Placeholders of firmware.
        "to be filled by o.e.m.",
        "to be filled by oem",
        "o.e.m.",
        "oem",
        "default string",
        "default",
        "default_string",
        "none",
        "null",
        "n/a",
        "na",
        "unknown",
        "invalid",
        "standard",
        "not specified",
        "not available",
        "not applicable",
        "not provided",
        "no asset tag",
        "empty",
        "serial number",
        "serial",
        "system serial number",
        "base board serial number",
        "chassis serial number",
        "product serial number",
        "system product name",
        "123456789",
        "1234567890",
        "0123456789",
        "0123456789abcdef",
        // SMBIOS UUIDs of boards whose firmware has none, in both byte orders.
        "03000200-0400-0500-0006-000700080009",
        "00020003-0004-0005-0006-000700080009",
        "03020100-0504-0706-0809-0a0b0c0d0e0f",
        "00010203-0405-0607-0809-0a0b0c0d0e0f",
        "10000000-0000-8000-0040-000000000000",
        "12345678-1234-5678-90ab-cddeefaabbcc",
        "12345678-1234-1234-1234-123456789abc",
        "deadbeef-dead-beef-dead-beefdeadbeef",
        "fefefefe-fefe-fefe-fefe-fefefefefefe",
        // The machine-id of an image that has not been started yet.
        "uninitialized",
        // Adapters that software adds with the same address everywhere: modems and VPN clients.
        "00:53:45:00:00:00",
        "44:45:53:54:42:00",
        "50:50:54:50:30:30",
        "20:41:53:59:4e:ff",
        "00:05:9a:3c:7a:00",
        "00:09:0f:aa:00:01",
        "00:09:0f:fe:00:01",
    };

    private static readonly Regex[] forms =
    {
        // MAC addresses that software has chosen, and those of groups.
        new("^[0-9a-f][^048c](:[0-9a-f]{2}){5}\\z", RegexOptions.CultureInvariant),
        // The adapters of a host for its virtual machines.
        new("^00:50:56:c0:00:", RegexOptions.CultureInvariant),
        new("^00:1c:42:00:00:", RegexOptions.CultureInvariant),
        // The disks of virtual machines.
        new("qm0000[0-9]\\z", RegexOptions.CultureInvariant),
        new("drive-(ide|sata|scsi|virtio)[0-9]+\\z", RegexOptions.CultureInvariant),
        new("persistent-disk-[0-9]+\\z", RegexOptions.CultureInvariant),
    };

    /// <summary>Firmware and tools write the same value in different cases, and end it with spaces, a line or a zero byte.</summary>
    public static string Plain(string value) => JsText.Lower(JsText.Trim(value.Replace("\0", "")));

    /// <summary>Whether a value tells nothing about a machine, because many have it, or it is one character over and over.</summary>
    public static bool IsShared(string value)
    {
        var text = Plain(value);
        var characters = text.Where(one => one is (>= 'a' and <= 'z') or (>= '0' and <= '9')).Distinct().Count();
        return characters < 2 || Array.IndexOf(values, text) >= 0 || Array.Exists(forms, form => form.IsMatch(text));
    }
}
