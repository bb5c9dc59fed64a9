using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Keyledger.Client.Text;

namespace Keyledger.Client.Machine;

/// <summary>
/// Reads a machine with Linux. The serial numbers of board and product are only readable for root. In a container nothing is read: its
/// files come from an image, and its disks and addresses are those of the host.
/// </summary>
internal sealed class LinuxMachine(string root)
{
    /// <summary>Kinds of disks that stay in a machine, by the names that the kernel gives them.</summary>
    private static readonly Regex[] diskKinds =
        { new("^nvme[0-9]+n[0-9]+\\z"), new("^sd[a-z]+\\z"), new("^vd[a-z]+\\z"), new("^xvd[a-z]+\\z"), new("^mmcblk[0-9]+\\z") };

    private static readonly Regex diskId = new("^(nvme|ata|scsi|wwn|mmc|virtio)-");
    private static readonly Regex noDiskId = new("-part[0-9]+\\z|_DVD");

    public Reading Read()
    {
        var os = FileAt("/etc/machine-id") ?? FileAt("/var/lib/dbus/machine-id");
        if ((os is not null && JsText.Trim(os) == "") || IsContainer()) return Reading.Nothing;
        return new Reading(
            new[] { os },
            new Dictionary<string, string?>
            {
                ["os"] = os,
                ["uuid"] = Firmware("product_uuid"),
                ["product"] = Firmware("product_serial") ?? FileAt("/sys/firmware/devicetree/base/serial-number"),
                ["board"] = Firmware("board_serial"),
                ["disk"] = Disk(),
                ["mac"] = Mac(),
            });
    }

    private bool IsContainer() =>
        NamesIn("/var/run/secrets/kubernetes.io").Count > 0
        || FileAt("/.dockerenv") is not null || FileAt("/run/.containerenv") is not null;

    private string? Firmware(string name) => FileAt($"/sys/class/dmi/id/{name}");

    /// <summary>The id of the first disk that has one and is not removable.</summary>
    private string? Disk()
    {
        var names = NamesIn("/sys/block");
        var known = diskKinds.SelectMany(kind => names.Where(name => kind.IsMatch(name)));
        return known.Select(name => DiskId($"/sys/block/{name}")).FirstOrDefault(id => id is not null)
            ?? NamesIn("/dev/disk/by-id").FirstOrDefault(id => diskId.IsMatch(id) && !noDiskId.IsMatch(id));
    }

    private string? DiskId(string folder)
    {
        // A card in a reader is no part of the machine, and its reader does not call it removable.
        if (Trimmed($"{folder}/removable") == "1" || Trimmed($"{folder}/device/type") == "SD") return null;
        return new[] { "device/serial", "serial", "wwid", "device/wwid" }
            .Select(file => FileAt($"{folder}/{file}"))
            .FirstOrDefault(id => id is not null && !SharedValues.IsShared(id));
    }

    /// <summary>
    /// The address of the first network interface that is built in, whether it is connected or not: with the connected ones alone, a
    /// laptop would be another machine when its cable is pulled. Bridges, tunnels and the like have no device.
    /// </summary>
    private string? Mac() => NamesIn("/sys/class/net")
        .Where(name => FileAt($"/sys/class/net/{name}/device/modalias") is { } bus && !bus.StartsWith("usb:", StringComparison.Ordinal))
        .Select(name => FileAt($"/sys/class/net/{name}/address"))
        .FirstOrDefault(address => address is not null && !SharedValues.IsShared(address));

    private string? Trimmed(string path) => FileAt(path) is { } text ? JsText.Trim(text) : null;

    private string? FileAt(string path)
    {
        try
        {
            return File.ReadAllText(root + path);
        }
        catch (Exception)
        {
            return null;
        }
    }

    private List<string> NamesIn(string folder)
    {
        try
        {
            return Directory.EnumerateFileSystemEntries(root + folder)
                .Select(path => Path.GetFileName(path)).OrderBy(name => name, StringComparer.Ordinal).ToList();
        }
        catch (Exception)
        {
            return new List<string>();
        }
    }
}
