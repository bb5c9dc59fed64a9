using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Keyledger.Client;

/// <summary>What a client is made of. Only the place and the storage are needed, with the server, or with keys in its place.</summary>
public sealed class ClientOptions
{
    /// <summary>Names the product and where its license is kept.</summary>
    /// <param name="place">The tenant and the product whose signature is expected.</param>
    /// <param name="storage">Where the license, and the device's own key for license files, are kept: one text.</param>
    /// <exception cref="ArgumentNullException">Without one of them.</exception>
    public ClientOptions(Place place, IStorage storage) =>
        (Place, Storage) = (place ?? throw new ArgumentNullException(nameof(place)), storage ?? throw new ArgumentNullException(nameof(storage)));

    /// <summary>The tenant and the product whose signature is expected.</summary>
    public Place Place { get; }

    /// <summary>Where the license is kept.</summary>
    public IStorage Storage { get; }

    /// <summary>The address of the license server; null for an app that never reaches it, which ships <see cref="Keys"/>.</summary>
    public Uri? BaseUrl { get; set; }

    /// <summary>It identifies the app and is no secret.</summary>
    public string? SdkKey { get; set; }

    /// <summary>The public keys to ship with the app by their ids, so that it does not have to fetch them first.</summary>
    public IReadOnlyDictionary<string, string> Keys { get; set; } = new Dictionary<string, string>();

    /// <summary>How the vendor and the customer see this device, such as its host name.</summary>
    public string? DeviceName { get; set; }

    /// <summary>The version of the app.</summary>
    public string? AppVersion { get; set; }

    /// <summary>When the app was built: a license covers builds until the end of its updates. Set it where the user cannot change it.</summary>
    public DateTimeOffset? AppBuiltAt { get; set; }

    /// <summary>Where the app gets its releases from, such as <c>stable</c>.</summary>
    public string? AppChannel { get; set; }

    /// <summary><c>macos</c>, <c>windows</c>, <c>linux</c> …</summary>
    public string? Platform { get; set; }

    /// <summary>
    /// Says what the device is, so that it keeps its seat when its storage is lost, and a copy of its storage is worth nothing elsewhere:
    /// <see cref="MachineIdentity.Read"/>, unless it is replaced. It is asked at the start and before each call. Null: a device is
    /// recognized by what is in its storage.
    /// </summary>
    public Func<Place, Task<DeviceIdentity>>? Identity { get; set; } = MachineIdentity.Read;

    /// <summary>Finds the relays of the customer's network, which give seats before the vendor's server is asked: their addresses in order.</summary>
    public Func<Task<IReadOnlyList<Uri>>>? Relays { get; set; }

    /// <summary>Who uses the app, by a stable id: for licenses whose seats are of users.</summary>
    public string? UserId { get; set; }

    /// <summary>The length of a trial where the server has never named one.</summary>
    public int? DefaultTrialDays { get; set; }

    /// <summary>Refuses unsigned settings: set it for a product that has a trial length.</summary>
    public bool RequireSignedSettings { get; set; }

    /// <summary>How often a running app validates. A lease that ends sooner is renewed at half of its time.</summary>
    public TimeSpan RefreshEvery { get; set; } = TimeSpan.FromHours(12);

    /// <summary>How many days before its end a license ends soon, which <see cref="LicenseClient.SubscribeToNotices"/> tells.</summary>
    public int ExpiringDays { get; set; } = 7;

    /// <summary>How long one request may take.</summary>
    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>Called when the storage cannot be read or written, and with what a listener throws; the app goes on.</summary>
    public Action<Exception>? OnError { get; set; }

    /// <summary>Sends requests; with <see cref="HttpTransport"/> unless it is replaced.</summary>
    public ITransport? Transport { get; set; }

    /// <summary>The time; that of the system unless it is replaced.</summary>
    public IClock? Clock { get; set; }

    internal Func<double>? Random { get; set; }
}
