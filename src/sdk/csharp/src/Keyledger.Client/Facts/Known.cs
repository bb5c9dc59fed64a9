using System;
using System.Collections.Generic;
using Keyledger.Client.Signed;
using Keyledger.Client.Text;

namespace Keyledger.Client.Facts;

/// <summary>The license that is held. What stands beside the proof is not signed, and for display.</summary>
internal sealed record HeldLicense(string Key, string InstanceId)
{
    /// <summary>Null when what was stored does not verify, and after the seat was given back.</summary>
    public Proof? Proof { get; init; }

    public long? ExpiresAt { get; init; }

    public long? GraceUntil { get; init; }

    public NotCovered? NotCovered { get; init; }

    /// <summary>Of a floating seat: it tells the seat from the one that the device takes after it.</summary>
    public long? Fence { get; init; }

    /// <summary>The address of the relay that gave the seat; null for the vendor's server.</summary>
    public string? Relay { get; init; }

    /// <summary>The floating seat was given back, and the next start takes one again.</summary>
    public bool IsAway { get; init; }
}

/// <summary>The settings that are held, with the signed answer and its times; 0 when nothing was signed.</summary>
internal sealed record HeldSettings(bool FreeTierEnabled, long? TrialDurationDays, JsonObject? Signed, long IssuedAt, long ExpiresAt);

/// <summary>When the trial was begun, whether the server says that it was used up, and whether it knows of it.</summary>
internal sealed record Trial(long StartedAt, bool Used, bool Reported);

/// <summary>The last request for a file, while its answer is awaited.</summary>
internal sealed record Asked(string Nonce, string LicenseKeyHash);

/// <summary>What is remembered of license files.</summary>
internal sealed record OfflineFacts(string Seed)
{
    /// <summary>The public part of the device's own key, base64url.</summary>
    public string DeviceKey { get; } = Base64.Url(Ed25519.PublicKeyOf(Hex.Bytes(Seed)));

    public long Counter { get; init; }

    public Asked? Asked { get; init; }

    /// <summary>The file that was taken last.</summary>
    public Lease? File { get; init; }

    public Withdrawn? Withdrawn { get; init; }

    /// <summary>The serial of the last file that was given back or taken away: it and older ones are not used again.</summary>
    public long Released { get; init; }

    /// <summary>The file that the device may use. Whether it has ended or was withdrawn is decided with the state.</summary>
    public Lease? Usable => File is not null && File.Serial > Released ? File : null;

    /// <summary>The machine that asks for a file: one that says nothing of itself is known by its key.</summary>
    public LeasedDevice MachineOf(LeasedDevice? device) =>
        device ?? new LeasedDevice(DeviceKey, new Dictionary<string, string>());

    public bool IsForMachine(Lease file, LeasedDevice? device) =>
        file.Device is not null && file.Device.IsSameAs(MachineOf(device));
}

/// <summary>All that an app has to remember.</summary>
internal sealed record Known(string InstallId, IReadOnlyDictionary<string, string> Keys)
{
    public HeldLicense? License { get; init; }

    /// <summary>The instances that were given up in the second of <see cref="SignedAt"/>.</summary>
    public IReadOnlyList<string> Left { get; init; } = Array.Empty<string>();

    public HeldSettings? Settings { get; init; }

    public Trial? Trial { get; init; }

    public OfflineFacts? Offline { get; init; }

    /// <summary>The time of the newest proof or file.</summary>
    public long SignedAt { get; init; }

    /// <summary>The greatest time that was seen since the newest lease or file was taken.</summary>
    public long Seen { get; init; }

    /// <summary>The time by which everything ends: never before one that was already seen.</summary>
    public long TimeAt(long now) => Math.Max(Seen, now);

    /// <summary>Notes the time of the device's clock, so that setting it back is noticed.</summary>
    public Known Notice(long now) => now > Seen ? this with { Seen = now } : this;

    /// <summary>The same with a key of the device, which is made when there is none.</summary>
    public Known WithOffline() => Offline is null ? this with { Offline = new OfflineFacts(Hex.Random(32)) } : this;
}
