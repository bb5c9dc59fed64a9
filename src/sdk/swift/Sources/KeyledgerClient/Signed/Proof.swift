/// What the server has signed about the license on this device: a lease in either form, or a refusal.
enum Proof: Equatable, Sendable {
    case lease(Lease)
    case refusal(Refusal)

    /// Verifies a token, or a lease or refusal as it was sent or stored. Whether a lease is over is decided with the state. A
    /// license file is no proof: it is taken only by the device that asked for it.
    static func verify(_ value: Json?, _ expected: Expected, _ keys: Keys) throws -> Proof {
        guard let value else { throw Doubt.malformed }
        let record = value.asRecord
        let inside = record?["token"]
        let written = inside == nil ? value.asText : inside?.asText
        if let token = written {
            let lease = try Lease.read(token, expected.place, keys)
            if lease.file != nil { throw Doubt.malformed }
            try expected.check(licenseKeyHash: lease.licenseKeyHash, instanceID: lease.instanceID)
            return .lease(lease)
        }
        guard let record else { throw Doubt.malformed }
        if record.has("reason") { return .refusal(try Statements.readRefusal(record, expected, keys)) }
        return .lease(try Statements.readLease(record, expected, keys))
    }

    var licenseKeyHash: String {
        switch self {
        case .lease(let lease): return lease.licenseKeyHash
        case .refusal(let refusal): return refusal.licenseKeyHash
        }
    }

    var instanceID: String {
        switch self {
        case .lease(let lease): return lease.instanceID
        case .refusal(let refusal): return refusal.instanceID
        }
    }

    var issuedAt: Int64 {
        switch self {
        case .lease(let lease): return lease.issuedAt
        case .refusal(let refusal): return refusal.issuedAt
        }
    }

    var serial: Int64 {
        switch self {
        case .lease(let lease): return lease.serial
        case .refusal: return 0
        }
    }

    var isRefusal: Bool {
        switch self {
        case .lease: return false
        case .refusal: return true
        }
    }

    /// What is stored of it, and verified again.
    var stored: Json {
        switch self {
        case .refusal(let refusal): return .record(refusal.signed)
        case .lease(let lease):
            switch lease.form {
            case .token(let token): return .record(Record([("token", Json.text(token))]))
            case .fields(let fields): return .record(fields)
            }
        }
    }

    /// How much it takes away: of the same second, the one that grants less counts.
    var strictness: Int {
        switch self {
        case .refusal: return 3
        case .lease(let lease):
            switch lease.status {
            case "active": return 0
            case "fallback": return 1
            default: return 2
            }
        }
    }

    /// Whether it takes the license away that a file is for, as a newer statement about it. That a device was deactivated does
    /// so only for the instance of the file.
    func takesAway(_ file: Lease) -> Bool {
        guard licenseKeyHash.isExactly(file.licenseKeyHash), issuedAt >= file.issuedAt else { return false }
        switch self {
        case .refusal(let refusal): return refusal.reason != "inactive" || refusal.instanceID.isExactly(file.instanceID)
        case .lease(let lease): return !lease.isGranting
        }
    }

    /// The value of a member that holds a token.
    static func token(in value: Json?) -> String? {
        value?.asRecord?.text("token")
    }
}
