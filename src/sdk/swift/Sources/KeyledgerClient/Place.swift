/// The tenant and the product whose signature is expected.
///
/// ```swift
/// let place = try Place(tenantID: "acme", productID: "acme-editor")
/// ```
public struct Place: Hashable, Sendable {
    /// The id of the vendor.
    public let tenantID: String
    /// The id of the product.
    public let productID: String

    /// Names a product of a vendor.
    ///
    /// - Throws: ``NotAnID`` for an id that no path can contain: URL parsers take dots for a step in the path even when they are
    ///   encoded.
    public init(tenantID: String, productID: String) throws {
        for id in [tenantID, productID] where id.isEmpty || id == "." || id == ".." {
            throw NotAnID(id: id)
        }
        self.tenantID = tenantID
        self.productID = productID
    }

    /// What is signed, but not sent, with a token of this kind.
    func assertion(_ kind: String) -> String {
        "keyledger:\(kind):\(tenantID):\(productID)"
    }
}

/// A tenant or product was named by what cannot be an id.
public struct NotAnID: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was named.
    public let id: String

    /// In English, for logs.
    public var description: String { "\"\(id)\" is not an id" }
}
