/// Reads the claims of a lease. Those that are not known are ignored.
struct LeaseClaims {
    private let claims: Record

    init(_ claims: Record) {
        self.claims = claims
    }

    /// - Throws: ``Doubt`` when a claim is missing or of another kind.
    func lease(_ token: String) throws -> Lease {
        _ = try filled("license_id")
        let isPerpetual = claims["license_expires_at"] == Json.null
        let licenseExpiresAt: Int64? = try isPerpetual ? nil : time("license_expires_at")
        let updatesUntil: Int64? = try claims.has("updates_until") ? time("updates_until") : nil
        guard let entitlements = claims.record("entitlements"), let serial = claims.safeInteger("serial") else {
            throw Doubt.malformed
        }
        return Lease(
            form: .token(token),
            licenseKeyHash: try filled("license_key_hash"),
            instanceID: try filled("instance_id"),
            status: try filled("status"),
            issuedAt: try time("iat"),
            notBefore: try time("nbf"),
            expiresAt: try time("exp"),
            device: try device(),
            // Of an entitlement with a value of another kind, nothing is known.
            entitlements: entitlements.entries.filter { entry in LeaseClaims.isKnown(entry.value) },
            licenseExpiresAt: licenseExpiresAt,
            holder: holder(),
            updatesUntil: updatesUntil,
            serial: serial,
            file: file()
        )
    }

    private func filled(_ name: String) throws -> String {
        guard let text = claims.filled(name) else { throw Doubt.malformed }
        return text
    }

    private func time(_ name: String) throws -> Int64 {
        guard let text = claims.text(name), let seconds = Times.seconds(of: text) else { throw Doubt.malformed }
        return seconds
    }

    private func device() throws -> SignedMachine? {
        guard let device = claims["device"] else { return nil }
        return try SignedMachine.from(device)
    }

    private func holder() -> Holder? {
        guard let holder = claims.record("holder") else { return nil }
        let name = holder.filled("name")
        let email = holder.filled("email")
        return name == nil && email == nil ? nil : Holder(name: name, email: email)
    }

    private func file() -> Lease.FileTerms? {
        guard let id = claims.filled("file"), let nonce = claims.filled("nonce") else { return nil }
        let fence = claims["fence"]
        return Lease.FileTerms(id: id, nonce: nonce, fence: fence?.asDouble == nil ? nil : fence)
    }

    private static func isKnown(_ value: Json) -> Bool {
        switch value {
        case .flag, .integer, .number, .text: return true
        case .null, .list, .record: return false
        }
    }
}
