/// Leases that a relay has signed, over a chain of exactly two: the tenant's key signed the certificate in the footer, and the
/// certified key signed the lease. A lease that says more than its certificate is refused like one with a wrong signature.
enum Relay {
    /// What a lease has to have in common with its certificate; what is absent in one is absent in the other.
    private static let shared = ["license_id", "license_key_hash", "status", "license_expires_at", "updates_until"]

    /// Reads the lease of a relay, whose footer has this certificate.
    static func read(_ token: Token, _ assertion: String, _ certificate: Json, _ place: Place, _ keys: Keys) throws -> Record {
        guard let written = certificate.asText, let certified = Token(written) else { throw Doubt.malformed }
        let allowed = try certified.readStatement(place.assertion("relay1"), keys)
        guard let key = allowed.text("pk"), allowed.text("relay_id") != nil else { throw Doubt.malformed }
        let claims = try token.readSigned(assertion, Bytes.fromBase64URL(key))
        guard isWithin(claims, allowed) else { throw Doubt.badSignature }
        return claims
    }

    private static func isWithin(_ lease: Record, _ certificate: Record) -> Bool {
        guard let granted = lease.record("entitlements"), let allowed = certificate.record("entitlements"),
            let end = lease.text("exp"), let last = certificate.text("exp")
        else { return false }
        let isEqual = shared.allSatisfy { name in Json.isSame(lease[name], certificate[name]) }
        let isGranted = granted.members.allSatisfy { one in Json.isSame(allowed[one.name], one.value) }
        // RFC 3339 in UTC and whole seconds sorts as text; any other spelling is refused with the lease itself.
        let isInTime = !last.utf8.lexicographicallyPrecedes(end.utf8)
        // A relay gives neither license files nor allowances: the vendor's server counts both.
        let isPlain = !lease.has("file") && !lease.has("allowance")
        return isEqual && isGranted && isInTime && isPlain
    }
}
