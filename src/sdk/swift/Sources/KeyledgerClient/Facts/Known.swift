/// All that an app has to remember.
struct Known: Equatable, Sendable {
    let installID: String
    var keys: Keys
    var license: HeldLicense?
    /// The instances that were given up in the second of ``signedAt``.
    var left: [String] = []
    var settings: HeldSettings?
    var trial: Trial?
    var offline: OfflineFacts?
    /// The time of the newest proof or file.
    var signedAt: Int64 = 0
    /// The greatest time that was seen since the newest lease or file was taken.
    var seen: Int64 = 0

    /// The facts of an install that knows these keys.
    init(installID: String, keys: Keys) {
        self.installID = installID
        self.keys = keys
    }

    /// The time by which everything ends: never before one that was already seen.
    func time(at now: Int64) -> Int64 {
        max(seen, now)
    }

    /// Notes the time of the device's clock, so that setting it back is noticed.
    mutating func notice(_ now: Int64) {
        seen = time(at: now)
    }

    /// What is remembered of license files, with a key of the device, which is made when there is none.
    var offlineOrNew: OfflineFacts {
        offline ?? OfflineFacts(seed: Bytes.randomHex(32))
    }

    /// The file that the device may use.
    var usableFile: Lease? { offline?.usable }

    /// Whether the server says that there is a free tier.
    var freeTier: Bool { settings?.freeTier ?? false }

    /// The length of a trial that the server has named.
    var trialDays: Int64? { settings?.trial?.days }
}

/// The license that is held. What stands beside the proof is not signed, and for display.
struct HeldLicense: Equatable, Sendable {
    var key: String
    var instanceID: String
    /// Nil when what was stored does not verify, and after the seat was given back.
    var proof: Proof?
    var expiresAt: Int64?
    var graceUntil: Int64?
    var notCovered: NotCovered?
    /// Of a floating seat: it tells the seat from the one that the device takes after it.
    var fence: Int64?
    /// The address of the relay that gave the seat; nil for the vendor's server.
    var relay: String?
    /// The floating seat was given back, and the next start takes one again.
    var isAway = false

    init(key: String, instanceID: String, relay: String? = nil) {
        self.key = key
        self.instanceID = instanceID
        self.relay = relay
    }
}

/// The settings that are held.
struct HeldSettings: Equatable, Sendable {
    var freeTier: Bool
    /// A trial length that was signed; its times are 0 after an unsigned answer has changed the free tier alone.
    var trial: SignedSettings.TrialLength?

    var issuedAt: Int64 { trial?.issuedAt ?? 0 }

    var expiresAt: Int64 { trial?.expiresAt ?? 0 }
}

/// The trial of this machine.
struct Trial: Equatable, Sendable {
    var startedAt: Int64
    /// The server says that it was used up.
    var used = false
    /// The server knows of it.
    var reported = false
}

/// The last request for a file, while its answer is awaited.
struct Asked: Equatable, Sendable {
    let nonce: String
    let licenseKeyHash: String
}

/// What is remembered of license files.
struct OfflineFacts: Equatable, Sendable {
    /// The seed of the device's own key, in hex.
    let seed: String
    var counter: Int64 = 0
    var asked: Asked?
    /// The file that was taken last.
    var file: Lease?
    var withdrawn: Withdrawn?
    /// The serial of the last file that was given back or taken away: it and older ones are not used again.
    var released: Int64 = 0
    /// The token that gives ``file`` back, once it was given out. CryptoKit would sign another one the next time.
    var release: String?

    init(seed: String) {
        self.seed = seed
    }

    /// The bytes of the seed.
    var seedBytes: [UInt8] { Bytes.fromHex(seed) ?? [] }

    /// The file that the device may use. Whether it has ended or was withdrawn is decided with the state.
    var usable: Lease? {
        file.flatMap { file in file.serial > released ? file : nil }
    }

    /// The machine that asks for a file: one that says nothing of itself is known by its key.
    func machine(of device: SignedMachine?) -> SignedMachine {
        if let device { return device }
        return SignedMachine(hash: Ed25519.publicKey(of: seedBytes).map(Bytes.base64URL))
    }

    func isForMachine(_ file: Lease, _ device: SignedMachine?) -> Bool {
        file.device.map { leased in leased.isSame(as: machine(of: device)) } ?? false
    }
}
