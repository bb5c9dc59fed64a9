using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net.NetworkInformation;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

namespace Keyledger.Client.Machine;

/// <summary>Reads a Mac. Its first interface is built in; others come and go with docks.</summary>
internal static class MacMachine
{
    public static async Task<Reading> Read() => From(
        await Command.Run("/usr/sbin/ioreg", "-rd1 -c IOPlatformExpertDevice").ConfigureAwait(false), Mac());

    /// <summary>What was printed, and the address of the first interface.</summary>
    public static Reading From(string? printed, string? mac)
    {
        string? Property(string name)
        {
            var match = Regex.Match(printed ?? "", $"\"{name}\" = \"([^\"]*)\"");
            return match.Success ? match.Groups[1].Value : null;
        }
        var uuid = Property("IOPlatformUUID");
        return new Reading(
            new[] { uuid },
            new Dictionary<string, string?> { ["uuid"] = uuid, ["product"] = Property("IOPlatformSerialNumber"), ["mac"] = mac });
    }

    private static string? Mac()
    {
        var first = NetworkInterface.GetAllNetworkInterfaces().FirstOrDefault(one => one.Name == "en0");
        // An interface without an address of a network is not listed by other clients.
        if (first is null || first.GetIPProperties().UnicastAddresses.Count == 0) return null;
        return string.Join(":", first.GetPhysicalAddress().GetAddressBytes().Select(part => part.ToString("x2")));
    }
}

/// <summary>
/// Reads a machine with Windows. A copied installation has the same MachineGuid, so the UUID of the firmware belongs to the machine as
/// well; while PowerShell does not answer, the machine has no hash rather than another one.
/// </summary>
internal static class WindowsMachine
{
    /// <summary>Prints a line for each value that there is. A serial number is that of the first disk that is not plugged in by USB.</summary>
    private const string Script =
        "$ErrorActionPreference = 'SilentlyContinue'; "
        + "$product = Get-CimInstance Win32_ComputerSystemProduct; "
        + "'uuid=' + $product.UUID; "
        + "'product=' + $product.IdentifyingNumber; "
        + "'board=' + (Get-CimInstance Win32_BaseBoard).SerialNumber; "
        + "$disks = Get-CimInstance Win32_DiskDrive | Where-Object { $_.InterfaceType -ne 'USB' } | Sort-Object Index; "
        + "'disk=' + ($disks | Select-Object -First 1).SerialNumber; "
        + "$cards = Get-CimInstance -Namespace root/StandardCimv2 MSFT_NetAdapter | Where-Object { $_.PnPDeviceID -match '^(PCI|VMBUS)' }; "
        + "'mac=' + ($cards | Sort-Object PermanentAddress | Select-Object -First 1).PermanentAddress";

    public static async Task<Reading> Read()
    {
        var folder = Path.Combine(Environment.GetEnvironmentVariable("SystemRoot") ?? @"C:\Windows", "System32");
        var registered = Command.Run(
            Path.Combine(folder, "reg.exe"), @"query HKLM\SOFTWARE\Microsoft\Cryptography /v MachineGuid /reg:64");
        var printed = Command.Run(
            Path.Combine(folder, @"WindowsPowerShell\v1.0\powershell.exe"), $"-NoProfile -NonInteractive -Command \"{Script}\"");
        return From(await registered.ConfigureAwait(false), await printed.ConfigureAwait(false));
    }

    /// <summary>What the registry and PowerShell have printed.</summary>
    public static Reading From(string? registered, string? printed)
    {
        string? First(string? text, string form)
        {
            var match = Regex.Match(text ?? "", form, RegexOptions.Multiline);
            return match.Success ? match.Groups[1].Value : null;
        }
        string? Line(string name) => First(printed, $"^{name}=([^\\r\\n]+)");
        var (os, uuid) = (First(registered, @"MachineGuid\s+REG_SZ\s+(\S+)"), Line("uuid"));
        var pairs = Line("mac") is { } address ? Regex.Matches(address, "..").Cast<Match>().Select(pair => pair.Value).ToList() : null;
        var mac = pairs is { Count: > 0 } ? string.Join(":", pairs) : null;
        return new Reading(
            new[] { os, uuid },
            new Dictionary<string, string?>
            {
                ["os"] = os, ["uuid"] = uuid, ["product"] = Line("product"), ["board"] = Line("board"), ["disk"] = Line("disk"), ["mac"] = mac,
            });
    }
}

/// <summary>Programs of the system.</summary>
internal static class Command
{
    /// <summary>What a program prints, without a shell; null when it fails or takes longer than ten seconds.</summary>
    public static async Task<string?> Run(string program, string arguments)
    {
        try
        {
            using var process = new Process
            {
                StartInfo = new ProcessStartInfo(program, arguments)
                {
                    UseShellExecute = false, CreateNoWindow = true, RedirectStandardInput = true, RedirectStandardOutput = true,
                },
                EnableRaisingEvents = true,
            };
            var ended = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            process.Exited += (_, _) => ended.TrySetResult(true);
            process.Start();
            // Some versions of PowerShell wait for the end of their input.
            process.StandardInput.Close();
            var printed = process.StandardOutput.ReadToEndAsync();
            var whole = Task.WhenAll(printed, ended.Task);
            if (await Task.WhenAny(whole, Task.Delay(10_000)).ConfigureAwait(false) != whole)
            {
                process.Kill();
                return null;
            }
            return process.ExitCode == 0 ? await printed.ConfigureAwait(false) : null;
        }
        catch (Exception)
        {
            return null;
        }
    }
}
