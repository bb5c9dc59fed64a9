using System;
using System.Collections.Generic;
using System.Linq;
using Keyledger.Client.Text;

namespace Keyledger.Client.Signed;

/// <summary>The machine that a lease was made for, as the app named it.</summary>
internal sealed record LeasedDevice(string? MachineHash, IReadOnlyDictionary<string, string> Components)
{
    /// <summary>By the machine hash, else by more than half of the components that both sides have, and at least two.</summary>
    public bool IsSameAs(LeasedDevice other)
    {
        if (MachineHash is not null && MachineHash == other.MachineHash) return true;
        var both = SharedWith(other);
        return both.Count(name => Components[name] == other.Components[name]) >= Math.Max(2, both.Count / 2 + 1);
    }

    /// <summary>Whether both say enough to be told apart, and are not the same: a machine that cannot be read is no other one.</summary>
    public bool IsOtherThan(LeasedDevice other) =>
        !IsSameAs(other) && ((MachineHash is not null && other.MachineHash is not null) || SharedWith(other).Count >= 2);

    private List<string> SharedWith(LeasedDevice other) => Components.Keys.Where(other.Components.ContainsKey).ToList();
}

/// <summary>What makes a lease a license file: its id, the nonce of the request that it answers, and the fence of the seat that it borrows.</summary>
internal sealed record FileTerms(string Id, string Nonce, Json? Fence);

/// <summary>A signed statement that a license may be used on a device. All times are Unix seconds.</summary>
internal sealed record Lease(string LicenseKeyHash, string InstanceId, string Status, long IssuedAt, long ExpiresAt)
{
    /// <summary>Of the second version, its token, which is verified again after it was stored; null for one of the first.</summary>
    public string? Token { get; init; }

    /// <summary>Of the first version, the signed fields as they came.</summary>
    public JsonObject? Signed { get; init; }

    public long NotBefore { get; init; }

    public LeasedDevice? Device { get; init; }

    /// <summary>All that were signed, also those that are false.</summary>
    public IReadOnlyList<KeyValuePair<string, Json>> Entitlements { get; init; } = Array.Empty<KeyValuePair<string, Json>>();

    /// <summary>When the license itself ends; null for a perpetual one.</summary>
    public long? LicenseExpiresAt { get; init; }

    public Holder? Holder { get; init; }

    public long? UpdatesUntil { get; init; }

    /// <summary>Of two about the same instance, the one with the higher serial is newer.</summary>
    public long Serial { get; init; }

    /// <summary>For a license file; null for a lease.</summary>
    public FileTerms? File { get; init; }

    public bool IsGranting => Status is "active" or "fallback";

    /// <summary>Verifies only who signed a lease of the second version or a file, and for which product.</summary>
    public static Checked<Lease> Read(string? token, Place place, IReadOnlyDictionary<string, string> keys)
    {
        var assertion = $"keyledger:lease2:{place.TenantId}:{place.ProductId}";
        var parsed = Paseto.Parse(token);
        var read = parsed?.FooterClaims?["relay"] is { } certificate
            ? Relay.Read(parsed, assertion, certificate, place, keys)
            : Paseto.ReadStatement(parsed, assertion, keys);
        if (read.Value is not { } signed) return read.Doubt!;
        return LeaseClaims.From(signed.Claims, token!) is { } lease ? lease : Doubts.Malformed;
    }

    /// <summary>Verifies a lease of the second version whole: for whom it is, for which machine, and its times.</summary>
    public static Checked<Lease> Verify(
        string? token, Place place, string licenseKeyHash, string instanceId, LeasedDevice? device,
        IReadOnlyDictionary<string, string> keys, long now)
    {
        var read = Read(token, place, keys);
        if (read.Value is not { } lease) return read;
        if (lease.LicenseKeyHash != licenseKeyHash) return Doubts.AnotherLicense;
        if (lease.InstanceId != instanceId) return Doubts.AnotherInstance;
        if (device is not null && lease.Device is not null && !lease.Device.IsSameAs(device)) return Doubts.AnotherDevice;
        if (now < lease.NotBefore) return Doubts.NotYet;
        return now > lease.ExpiresAt ? Doubts.Over : lease;
    }
}
