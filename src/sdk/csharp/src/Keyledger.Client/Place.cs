using System;

namespace Keyledger.Client;

/// <summary>The tenant and the product whose signature is expected.</summary>
public sealed class Place
{
    /// <summary>Names a product of a vendor.</summary>
    /// <param name="tenantId">The id of the vendor.</param>
    /// <param name="productId">The id of the product.</param>
    /// <exception cref="ArgumentException">For an id that no path can contain.</exception>
    public Place(string tenantId, string productId)
    {
        TenantId = Checked(tenantId, nameof(tenantId));
        ProductId = Checked(productId, nameof(productId));
    }

    /// <summary>The id of the vendor.</summary>
    public string TenantId { get; }

    /// <summary>The id of the product.</summary>
    public string ProductId { get; }

    /// <summary>URL parsers take dots for a step in the path even when they are encoded; unpaired surrogates have no encoding.</summary>
    private static string Checked(string id, string name)
    {
        var isBad = string.IsNullOrEmpty(id) || id is "." or "..";
        for (var at = 0; !isBad && at < id.Length; at++)
        {
            if (at + 1 < id.Length && char.IsSurrogatePair(id, at)) at++;
            else isBad = char.IsSurrogate(id[at]);
        }
        return isBad ? throw new ArgumentException("this is not an id", name) : id;
    }
}
