/// The public keys that a server publishes.
enum Keyset {
    /// A kid is the beginning of the hash of its key, so a key that was damaged on the way is recognized.
    static func isKey(_ key: String, of kid: String) -> Bool {
        guard let bytes = Bytes.fromAnyBase64(key), bytes.count == 32 else { return false }
        return Bytes.hex(Array(Cryptography.sha256(bytes)[..<8])).isExactly(kid)
    }
}
