using System;
using System.Runtime.InteropServices;
using System.Threading.Tasks;
using Keyledger.Client.Machine;

namespace Keyledger.Client;

/// <summary>Reads what tells this machine from others.</summary>
public static class MachineIdentity
{
    /// <summary>
    /// Reads the ids of the operating system, firmware, board and disk, and a MAC address, on Linux, macOS and Windows. Only hashes are
    /// returned, which also depend on the product. What cannot be read, or is the same on many machines, is left out; in containers and on
    /// other systems nothing is left, and no id is made up.
    /// </summary>
    /// <param name="place">The product that the hashes are for.</param>
    /// <returns>The same at each call, as long as the machine has the same parts. It never throws.</returns>
    public static async Task<DeviceIdentity> Read(Place place)
    {
        try
        {
            return (await ReadParts().ConfigureAwait(false)).IdentityIn(place);
        }
        catch (Exception)
        {
            return new DeviceIdentity(null);
        }
    }

    private static async Task<Reading> ReadParts()
    {
        if (RuntimeInformation.IsOSPlatform(OSPlatform.Linux)) return new LinuxMachine("").Read();
        if (RuntimeInformation.IsOSPlatform(OSPlatform.OSX)) return await MacMachine.Read().ConfigureAwait(false);
        return RuntimeInformation.IsOSPlatform(OSPlatform.Windows)
            ? await WindowsMachine.Read().ConfigureAwait(false)
            : Reading.Nothing;
    }
}
