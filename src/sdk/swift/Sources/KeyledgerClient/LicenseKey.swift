/// License keys as people type them.
public enum LicenseKey {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Normalizes a typed license key: NFKC, upper case, without white space and hyphens. In a key that keyledger minted, which its
    /// check character shows, O becomes 0, and I and L become 1.
    ///
    /// ```swift
    /// LicenseKey.normalized(" acme-1234 ") // "ACME1234"
    /// ```
    public static func normalized(_ typed: String) -> String {
        var text: [Unicode.Scalar] = []
        for scalar in JavaScriptText.upperCompatible(typed).unicodeScalars {
            if scalar != "-" && !JavaScriptText.isSpace(scalar) {
                text.append(scalar)
            }
        }
        let read = JavaScriptText.joined(text.map(readable))
        return isMinted(read) ? read : JavaScriptText.joined(text)
    }

    /// Whether a typed key has the form and the check character of keys that keyledger mints: before a call, a hint for the person who
    /// types. Keys that a vendor has brought along have neither, so it is no reason to refuse a key.
    ///
    /// ```swift
    /// LicenseKey.looksMinted("ACME-1234") // false
    /// ```
    public static func looksMinted(_ typed: String) -> Bool {
        isMinted(normalized(typed))
    }

    /// The hash of a license key in leases: lower-case hex.
    static func hash(of typed: String) -> String {
        Bytes.hex(Cryptography.sha256(Array(normalized(typed).utf8)))
    }

    private static func readable(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "O": return "0"
        case "I", "L": return "1"
        default: return scalar
        }
    }

    private static func isMinted(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let prefix = bytes.count - 26
        guard (2...8).contains(prefix) else { return false }
        let isNamed = bytes[..<prefix].allSatisfy { byte in
            JavaScriptText.isUpperLetter(byte) || JavaScriptText.isDigit(byte)
        }
        guard isNamed else { return false }
        var sum = 0
        for (place, byte) in bytes[prefix...].reversed().enumerated() {
            guard let value = alphabet.firstIndex(of: byte) else { return false }
            let doubled = value * (1 + place % 2)
            sum += doubled / 32 + doubled % 32
        }
        return sum % 32 == 0
    }
}
