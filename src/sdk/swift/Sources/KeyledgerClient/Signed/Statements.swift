/// A license that refuses an instance: the proof beside a refused validate.
struct Refusal: Equatable, Sendable {
    let licenseKeyHash: String
    let instanceID: String
    let issuedAt: Int64
    let reason: String
    /// As it came, to be stored and verified again.
    let signed: Record
}

/// Whom a statement is expected to be about.
struct Expected {
    let place: Place
    let licenseKeyHash: String
    let instanceID: String

    /// - Throws: ``Doubt`` when it is about another one.
    func check(licenseKeyHash: String, instanceID: String) throws {
        if !licenseKeyHash.isExactly(self.licenseKeyHash) { throw Doubt.anotherLicense }
        if !instanceID.isExactly(self.instanceID) { throw Doubt.anotherInstance }
    }
}

/// Leases of the first version, and refusals: fields whose joined text is signed.
enum Statements {
    /// Verifies a lease of the first version. Whether it is over is decided with the state.
    static func readLease(_ record: Record, _ expected: Expected, _ keys: Keys) throws -> Lease {
        guard let expiresAt = record.seconds("expiresAt"), let status = record.field("status"),
            let names = entitlements(in: record["entitlements"])
        else { throw Doubt.malformed }
        let end = [String(expiresAt), status, names.joined(separator: ",")]
        let issuedAt = try verify("lease1", record, end, expected, keys)
        return Lease(
            form: .fields(record),
            licenseKeyHash: expected.licenseKeyHash,
            instanceID: expected.instanceID,
            status: status,
            issuedAt: issuedAt,
            notBefore: 0,
            expiresAt: expiresAt,
            device: nil,
            entitlements: names.map { name in Record.Member(name: name, value: .flag(true)) },
            licenseExpiresAt: nil,
            holder: nil,
            updatesUntil: nil,
            serial: 0,
            file: nil
        )
    }

    /// Verifies a refusal. It has no end: a newer lease replaces it.
    static func readRefusal(_ record: Record, _ expected: Expected, _ keys: Keys) throws -> Refusal {
        guard let reason = record.field("reason") else { throw Doubt.malformed }
        let issuedAt = try verify("refusal1", record, [reason], expected, keys)
        return Refusal(
            licenseKeyHash: expected.licenseKeyHash,
            instanceID: expected.instanceID,
            issuedAt: issuedAt,
            reason: reason,
            signed: record
        )
    }

    /// Whether the key has signed the parts with the separator between them; signature and key are base64.
    static func isSigned(_ parts: [String], _ signature: String, _ key: String) -> Bool {
        guard let signature = Bytes.fromBase64(signature), let key = Bytes.fromBase64(key) else { return false }
        return Ed25519.isSigned(Array(parts.joined(separator: "|").utf8), signature, key)
    }

    /// When a statement was issued that is about whom it should be, with these parts at its end.
    private static func verify(
        _ kind: String, _ record: Record, _ more: [String], _ expected: Expected, _ keys: Keys
    ) throws -> Int64 {
        guard let kid = record.field("kid"), let keyHash = record.field("licenseKeyHash"),
            let instanceID = record.field("instanceId"), let issuedAt = record.seconds("issuedAt"),
            let signature = record.text("signature")
        else { throw Doubt.malformed }
        try expected.check(licenseKeyHash: keyHash, instanceID: instanceID)
        guard let key = keys[kid] else { throw Doubt.unknownKey }
        let place = expected.place
        let first = [kind, kid, place.tenantID, place.productID, keyHash, instanceID, String(issuedAt)]
        guard isSigned(first + more, signature, key) else { throw Doubt.badSignature }
        return issuedAt
    }

    private static func entitlements(in value: Json?) -> [String]? {
        guard let list = value?.asList else { return nil }
        var names: [String] = []
        for item in list {
            guard let name = item.asText, isEntitlement(name) else { return nil }
            names.append(name)
        }
        return names
    }

    private static func isEntitlement(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        let more = Array("._:-".utf8)
        guard (1...64).contains(bytes.count) else { return false }
        for (place, byte) in bytes.enumerated() {
            let isPlain = JavaScriptText.isLowerLetter(byte) || JavaScriptText.isDigit(byte)
            guard isPlain || (place > 0 && more.contains(byte)) else { return false }
        }
        return true
    }
}
