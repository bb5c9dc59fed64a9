#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import CSodium
#endif

/// What the system's library computes: CryptoKit on Apple's systems, libsodium elsewhere.
enum Cryptography {
    #if canImport(CryptoKit)
    /// The SHA-256 of bytes.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Data(bytes)))
    }

    /// Whether the library takes a signature of 64 bytes for one of a key of 32 bytes.
    static func isSigned(_ message: [UInt8], _ signature: [UInt8], _ publicKey: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: Data(publicKey)) else { return false }
        return key.isValidSignature(Data(signature), for: Data(message))
    }

    /// Signs with a seed of 32 bytes. The signature is another one each time.
    static func sign(_ message: [UInt8], _ seed: [UInt8]) -> [UInt8]? {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: Data(seed)) else { return nil }
        guard let signature = try? key.signature(for: Data(message)) else { return nil }
        return Array(signature)
    }

    /// The public key of a seed of 32 bytes.
    static func publicKey(of seed: [UInt8]) -> [UInt8]? {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: Data(seed)) else { return nil }
        return Array(key.publicKey.rawRepresentation)
    }
    #else
    private static let isReady: Bool = sodium_init() >= 0

    /// The SHA-256 of bytes.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        _ = crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// Whether the library takes a signature of 64 bytes for one of a key of 32 bytes.
    static func isSigned(_ message: [UInt8], _ signature: [UInt8], _ publicKey: [UInt8]) -> Bool {
        guard isReady, signature.count == 64, publicKey.count == 32 else { return false }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }

    /// Signs with a seed of 32 bytes.
    static func sign(_ message: [UInt8], _ seed: [UInt8]) -> [UInt8]? {
        guard let pair = Cryptography.pair(of: seed) else { return nil }
        var signature = [UInt8](repeating: 0, count: 64)
        let result = crypto_sign_detached(&signature, nil, message, UInt64(message.count), pair.secret)
        return result == 0 ? signature : nil
    }

    /// The public key of a seed of 32 bytes.
    static func publicKey(of seed: [UInt8]) -> [UInt8]? {
        Cryptography.pair(of: seed)?.open
    }

    private static func pair(of seed: [UInt8]) -> (open: [UInt8], secret: [UInt8])? {
        guard isReady, seed.count == 32 else { return nil }
        var open = [UInt8](repeating: 0, count: 32)
        var secret = [UInt8](repeating: 0, count: 64)
        guard crypto_sign_seed_keypair(&open, &secret, seed) == 0 else { return nil }
        return (open: open, secret: secret)
    }
    #endif
}
