/// Ed25519 strictly by RFC 8032: signatures and keys that are not canonical, and keys of low order, are rejected, whatever the library
/// says of them.
enum Ed25519 {
    /// The prime 2^255 - 19, its lowest byte first.
    private static let prime = edged(0xed, 0xff, 0x7f)

    /// The order of the group, its lowest byte first.
    private static let order: [UInt8] =
        [0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14]
        + [UInt8](repeating: 0, count: 15) + [0x10]

    /// The heights of the points whose order divides eight: 0, 1, -1, and the two of order eight.
    private static let lowHeights: [[UInt8]] = [
        edged(0, 0, 0),
        edged(1, 0, 0),
        edged(0xec, 0xff, 0x7f),
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
            0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
            0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
    ]

    /// Whether the key has signed the message; false for a signature or key that is none.
    static func isSigned(_ message: [UInt8], _ signature: [UInt8], _ publicKey: [UInt8]) -> Bool {
        guard signature.count == 64, publicKey.count == 32 else { return false }
        let key = height(publicKey)
        guard isBelow(key, prime), isBelow(height(signature), prime), !lowHeights.contains(key) else { return false }
        guard isBelow(Array(signature[32...]), order) else { return false }
        return Cryptography.isSigned(message, signature, publicKey)
    }

    /// Signs with a seed of 32 bytes; nil for one of another length. With CryptoKit the signature is another one each time.
    static func sign(_ message: [UInt8], seed: [UInt8]) -> [UInt8]? {
        seed.count == 32 ? Cryptography.sign(message, seed) : nil
    }

    /// The raw public key of a seed of 32 bytes; nil for one of another length.
    static func publicKey(of seed: [UInt8]) -> [UInt8]? {
        seed.count == 32 ? Cryptography.publicKey(of: seed) : nil
    }

    /// The height of the point in the first 32 bytes, without the sign of its other coordinate.
    private static func height(_ bytes: [UInt8]) -> [UInt8] {
        var height = Array(bytes[..<32])
        height[31] &= 0x7f
        return height
    }

    /// Whether a number is below another one, both with their lowest byte first.
    private static func isBelow(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.reversed().lexicographicallyPrecedes(other.reversed())
    }

    private static func edged(_ first: UInt8, _ middle: UInt8, _ last: UInt8) -> [UInt8] {
        [first] + [UInt8](repeating: middle, count: 30) + [last]
    }
}
