using System;
using System.Globalization;
using System.Threading.Tasks;
using Keyledger.Client;
using Keyledger.Client.Checks;
using Keyledger.Client.Machine;
using Keyledger.Client.Text;

return args switch
{
    ["vectors", var directory] => Vectors.Run(directory),
    ["fuzz", var directory, var seconds, var seed] => Fuzz.Run(
        directory, double.Parse(seconds, CultureInfo.InvariantCulture), int.Parse(seed, CultureInfo.InvariantCulture)),
    ["calls"] => await CallChecks.Run().ConfigureAwait(false),
    ["key-store", "fill"] => await KeyStoreChecks.Fill().ConfigureAwait(false),
    ["key-store", "fails"] => KeyStoreChecks.Fails(),
    ["key-store", "kept"] => KeyStoreChecks.Kept(),
    ["story"] => await StoryProgram.Run().ConfigureAwait(false),
    ["identity", var tenant, var product] => Shown(await MachineIdentity.Read(new Place(tenant, product)).ConfigureAwait(false)),
    ["linux", var root, var tenant, var product] => Shown(new LinuxMachine(root).Read().IdentityIn(new Place(tenant, product))),
    ["store", var directory, var file] => Start.Store(directory, file),
    ["start", var tenant, var product, var file, var at] => await Start.Run(
        tenant, product, file, long.Parse(at, CultureInfo.InvariantCulture)).ConfigureAwait(false),
    _ => Usage(),
};

static int Shown(DeviceIdentity identity)
{
    Console.WriteLine(JsonWriter.Write(JsonWriter.Object(
        ("machineHash", JsonWriter.Of(identity.MachineHash)), ("device", JsonWriter.Of(identity.Components)))));
    return 0;
}

static int Usage()
{
    Console.Error.WriteLine(
        "usage: vectors DIRECTORY | fuzz DIRECTORY SECONDS SEED | calls | key-store fill,fails,kept | story | "
        + "identity TENANT PRODUCT | linux ROOT TENANT PRODUCT | store DIRECTORY FILE | start TENANT PRODUCT FILE SECONDS");
    return 2;
}
