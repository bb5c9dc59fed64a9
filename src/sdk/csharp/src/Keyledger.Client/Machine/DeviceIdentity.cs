using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Signed;

namespace Keyledger.Client;

/// <summary>What an app says of its device, as hashes. A device that says the same again keeps its seat, whatever its name.</summary>
public sealed class DeviceIdentity
{
    /// <summary>Names a device.</summary>
    /// <param name="machineHash">A hash of an id of the machine: 16 to 128 of <c>A–Z a–z 0–9 + / = _ -</c>.</param>
    /// <param name="components">Hashes of up to 8 components in the same form, by names such as <c>board</c>, <c>disk</c> and <c>mac</c>.</param>
    public DeviceIdentity(string? machineHash, IReadOnlyDictionary<string, string>? components = null) =>
        (MachineHash, Components) = (machineHash, components ?? new Dictionary<string, string>());

    /// <summary>A hash of an id of the machine; null when it says none.</summary>
    public string? MachineHash { get; }

    /// <summary>Hashes of components: a device whose machine hash has changed is recognized by most of them.</summary>
    public IReadOnlyDictionary<string, string> Components { get; }

    /// <summary>What of it is a hash; null when nothing is.</summary>
    internal LeasedDevice? Usable
    {
        get
        {
            var components = Components.Where(pair => IsHash(pair.Value)).ToDictionary(pair => pair.Key, pair => pair.Value);
            return IsHash(MachineHash) || components.Count > 0
                ? new LeasedDevice(IsHash(MachineHash) ? MachineHash : null, components)
                : null;
        }
    }

    private static bool IsHash(string? value) => value is { Length: >= 16 and <= 128 } && value.All(IsOfHash);

    private static bool IsOfHash(char one) =>
        one is (>= 'A' and <= 'Z') or (>= 'a' and <= 'z') or (>= '0' and <= '9') or '+' or '/' or '=' or '_' or '-';
}
