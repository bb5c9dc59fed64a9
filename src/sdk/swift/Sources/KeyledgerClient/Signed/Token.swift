/// A token of the kind `v4.public` of PASETO that was taken apart, and is not verified: a message that Ed25519 signs, a footer that
/// anyone can read, and an assertion that is signed but not sent.
struct Token {
    private static let header = "v4.public."

    let message: [UInt8]
    let signature: [UInt8]
    let footer: [UInt8]

    /// Takes a token apart; nil for what is no token, also in another spelling of the same bytes.
    init?(_ token: String) {
        guard token.begins(with: Token.header) else { return nil }
        let rest = token.utf8.dropFirst(Token.header.utf8.count)
        let parts = rest.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { part in String(decoding: Array(part), as: UTF8.self) }
        guard parts.count == 1 || parts.count == 2 else { return nil }
        guard let signed = Bytes.fromBase64URL(parts[0]), signed.count >= 64 else { return nil }
        guard let footer = Bytes.fromBase64URL(parts.count == 2 ? parts[1] : "") else { return nil }
        self.message = Array(signed.dropLast(64))
        self.signature = Array(signed.suffix(64))
        self.footer = footer
    }

    /// What stands in clear beside the message.
    var footerClaims: Record? {
        JsonReader.read(footer)?.asRecord
    }

    /// Whether the token was signed with this key, for this assertion.
    func isSigned(_ assertion: String, _ publicKey: [UInt8]) -> Bool {
        Ed25519.isSigned(Token.authenticated(message, footer, assertion), signature, publicKey)
    }

    /// The claims of a token that this key has signed for this assertion.
    ///
    /// - Throws: ``Doubt`` when it cannot be used.
    func readSigned(_ assertion: String, _ publicKey: [UInt8]?) throws -> Record {
        guard let publicKey, isSigned(assertion, publicKey) else { throw Doubt.badSignature }
        guard let claims = JsonReader.read(message)?.asRecord else { throw Doubt.malformed }
        return claims
    }

    /// Reads a statement that one of the tenant's keys has signed.
    func readStatement(_ assertion: String, _ keys: Keys) throws -> Record {
        guard let footer = footerClaims, let kid = footer.text("kid") else { throw Doubt.malformed }
        guard let key = keys[kid] else { throw Doubt.unknownKey }
        return try readSigned(assertion, Bytes.fromBase64(key))
    }

    /// Signs a statement of a device with its own key, whose public part is in the footer. Nil for a seed that is none.
    static func signedByDevice(_ message: String, _ assertion: String, seed: [UInt8]) -> String? {
        guard let publicKey = Ed25519.publicKey(of: seed) else { return nil }
        let footer = Array(JsonWriter.write(Record([("pk", Json.text(Bytes.base64URL(publicKey)))])).utf8)
        let body = Array(message.utf8)
        guard let signature = Ed25519.sign(authenticated(body, footer, assertion), seed: seed) else { return nil }
        return "\(header)\(Bytes.base64URL(body + signature)).\(Bytes.base64URL(footer))"
    }

    /// The claims of a statement that the device of this seed has signed; nil for any other.
    static func claims(ofDevice token: String, _ assertion: String, seed: [UInt8]) -> Record? {
        guard let publicKey = Ed25519.publicKey(of: seed), let parsed = Token(token) else { return nil }
        return try? parsed.readSigned(assertion, publicKey)
    }

    /// What is signed: the parts with their number and lengths before them, so that none can take bytes of another.
    private static func authenticated(_ message: [UInt8], _ footer: [UInt8], _ assertion: String) -> [UInt8] {
        let parts: [[UInt8]] = [Array(header.utf8), message, footer, Array(assertion.utf8)]
        var all = littleEndian(parts.count)
        for part in parts {
            all.append(contentsOf: littleEndian(part.count))
            all.append(contentsOf: part)
        }
        return all
    }

    private static func littleEndian(_ number: Int) -> [UInt8] {
        let value = UInt64(number)
        return (0..<8).map { place in UInt8((value >> UInt64(8 * place)) & 255) }
    }
}
