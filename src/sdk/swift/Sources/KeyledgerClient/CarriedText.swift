/// A text to carry to the vendor.
public struct CarriedText: Equatable, Sendable {
    /// To paste or to keep as a file.
    public let text: String
    /// The same without lines, for a QR code.
    public let token: String

    init(_ kind: String, _ token: String) {
        self.text = Armor.around(kind, token)
        self.token = token
    }
}

/// What a device signs is given out only when the storage has it, and the storage cannot be written.
public struct StorageFailed: Error, Equatable, Sendable, CustomStringConvertible {
    /// In English, for logs.
    public var description: String { "the storage cannot be written" }
}
