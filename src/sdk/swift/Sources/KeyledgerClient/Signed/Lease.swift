/// A signed statement that a license may be used on a device: a lease, or a license file. All times are Unix seconds.
struct Lease: Equatable, Sendable {
    /// How a lease was signed, which is verified again after it was stored.
    enum Form: Equatable, Sendable {
        /// The fields of the first version, as they came.
        case fields(Record)
        /// The token of the second version.
        case token(String)
    }

    /// What makes a lease a license file.
    struct FileTerms: Equatable, Sendable {
        let id: String
        /// Of the request that it answers.
        let nonce: String
        /// Of the seat that it borrows: a number.
        let fence: Json?
    }

    let form: Form
    let licenseKeyHash: String
    let instanceID: String
    let status: String
    let issuedAt: Int64
    let notBefore: Int64
    let expiresAt: Int64
    let device: SignedMachine?
    /// All that were signed, also those that are false.
    let entitlements: [Record.Member]
    /// When the license itself ends; nil for a perpetual one.
    let licenseExpiresAt: Int64?
    let holder: Holder?
    let updatesUntil: Int64?
    /// Of two about the same instance, the one with the higher serial is newer.
    let serial: Int64
    /// For a license file; nil for a lease.
    let file: FileTerms?

    var isGranting: Bool {
        status == "active" || status == "fallback"
    }

    /// Its token; nil for a lease of the first version.
    var token: String? {
        switch form {
        case .token(let token): return token
        case .fields: return nil
        }
    }

    /// Verifies who signed it, and for which product, and nothing else.
    static func read(_ token: String, _ place: Place, _ keys: Keys) throws -> Lease {
        guard let parsed = Token(token) else { throw Doubt.malformed }
        let assertion = place.assertion("lease2")
        let claims: Record
        if let certificate = parsed.footerClaims?["relay"] {
            claims = try Relay.read(parsed, assertion, certificate, place, keys)
        } else {
            claims = try parsed.readStatement(assertion, keys)
        }
        return try LeaseClaims(claims).lease(token)
    }

    /// Verifies it whole: for whom it is, for which machine, and its times.
    static func verify(_ token: String, _ expected: Expected, _ device: SignedMachine?, _ keys: Keys, now: Int64) throws -> Lease {
        let lease = try read(token, expected.place, keys)
        try expected.check(licenseKeyHash: lease.licenseKeyHash, instanceID: lease.instanceID)
        if let leased = lease.device, let device, !leased.isSame(as: device) { throw Doubt.anotherDevice }
        if now < lease.notBefore { throw Doubt.notYet }
        if now > lease.expiresAt { throw Doubt.over }
        return lease
    }
}
