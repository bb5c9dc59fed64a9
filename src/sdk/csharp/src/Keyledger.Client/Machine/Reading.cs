using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Text;

namespace Keyledger.Client.Machine;

/// <summary>
/// What a system says of its machine: values that together tell it from every other, of which a null one could not be read, though the
/// system has it; and the parts of the machine by their names.
/// </summary>
internal sealed record Reading(IReadOnlyList<string?> Machine, IReadOnlyDictionary<string, string?> Components)
{
    public static readonly Reading Nothing = new(new string?[0], new Dictionary<string, string?>());

    /// <summary>What is sent of a machine: hashes that also depend on the product. While a part cannot be read, there is no machine hash.</summary>
    public DeviceIdentity IdentityIn(Place place)
    {
        var telling = Machine.OfType<string>().Where(value => !SharedValues.IsShared(value)).ToList();
        var isWhole = Machine.All(value => value is not null) && telling.Count > 0;
        var components = Components
            .Where(pair => pair.Value is not null && !SharedValues.IsShared(pair.Value))
            .ToDictionary(pair => pair.Key, pair => Hash(place, pair.Key, new[] { pair.Value! }));
        return new DeviceIdentity(isWhole ? Hash(place, "machine", telling) : null, components);
    }

    private static string Hash(Place place, string name, IEnumerable<string> values)
    {
        var all = new[] { "keyledger device", place.TenantId, place.ProductId, name }.Concat(values.Select(SharedValues.Plain));
        return Base64.Url(Sha256.Of(JsonWriter.Write(JsonWriter.Of(all))));
    }
}
