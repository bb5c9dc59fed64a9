/// How an answer compares with what is held. The first two show that the server was reached.
enum Age: String, Sendable {
    case fresh
    case same
    case stale

    /// Whether it is as new as what is held.
    var isNew: Bool { self != .stale }
}

/// What became of an answer, or why it is not taken.
typealias Taken = Result<Age, Doubt>

/// What each answer does to the facts. What is not taken may have changed them: the caller keeps those from before.
enum Take {
    /// Takes the lease or the refusal of an answer, if it is genuine and newer than what is held.
    static func proof(_ known: inout Known, _ answer: Json?, _ asked: HeldLicense, _ place: Place, now: Int64) throws -> Age {
        let body = answer?.asRecord ?? Record()
        let hash = LicenseKey.hash(of: asked.key)
        let expected = Expected(place: place, licenseKeyHash: hash, instanceID: asked.instanceID)
        let offered = body.given("refusal") ?? body.given("lease2") ?? body["lease"]
        let proof = try Proof.verify(offered, expected, known.keys)
        let held = known.license.flatMap { held in isSame(held, asked) ? held : nil }
        let age = compare(proof, held?.proof, known)
        if age != .fresh { return age }
        let isLater = !proof.isRefusal && proof.issuedAt > (held?.proof?.issuedAt ?? -1)
        var license = HeldLicense(key: asked.key, instanceID: asked.instanceID, relay: asked.relay)
        license.proof = proof
        license.expiresAt = body.seconds("license_expires_at")
        license.graceUntil = body.seconds("grace_until")
        // Who was refused still had a floating seat, and may take another.
        license.fence = KnownText.fence(in: body["seat"]) ?? (proof.isRefusal ? held?.fence : nil)
        if held == nil {
            releaseTakenAway(&known)
        }
        leaveHeld(&known, asked.instanceID)
        noteSigned(&known, proof.issuedAt)
        known.seen = max(proof.issuedAt, now, isLater ? 0 : known.seen)
        known.license = license
        return age
    }

    /// Notes what the server says of a build that the license does not cover. Unsigned, it changes nothing else.
    static func buildNotCovered(_ known: inout Known, _ answer: Json?) {
        known.license?.notCovered = NotCovered.inAnswer(answer)
    }

    /// Takes the settings of an answer: unsigned ones only for the free tier, and not while signed ones are valid.
    static func settings(_ known: inout Known, _ answer: Json?, _ place: Place, now: Int64, enforce: Bool) throws -> Age {
        // By the clock as it is now: a time that was seen while it was wrong by years would refuse all settings after it.
        let read = try SignedSettings.verify(answer, place, known.keys, now: now, enforce: enforce)
        let held = known.settings
        var trial = read.trial
        if let offered = read.trial {
            if let held, offered.issuedAt < held.issuedAt { return .stale }
        } else {
            if let held, held.expiresAt >= known.time(at: now) { return .stale }
            trial = held?.trial
            trial?.issuedAt = 0
            trial?.expiresAt = 0
        }
        let settings = HeldSettings(freeTier: read.freeTier, trial: trial)
        // Without a license, newer settings begin the observation of the clock anew, as a newer lease does.
        if known.license == nil && settings.issuedAt > (held?.issuedAt ?? 0) {
            known.seen = max(settings.issuedAt, now)
        }
        known.settings = settings
        return .fresh
    }

    /// Begins the trial of this machine, unless one was begun before.
    static func beginTrial(_ known: inout Known, now: Int64) {
        if known.trial == nil {
            known.trial = Trial(startedAt: known.time(at: now))
        }
    }

    /// Takes what the server knows of the trial of this machine. Fields that are absent mean that it has no opinion.
    static func trial(_ known: inout Known, _ answer: Json?) {
        guard var trial = known.trial, let record = answer?.asRecord else { return }
        trial.startedAt = record.seconds("trial_started_at") ?? trial.startedAt
        trial.used = record.flag("trial_already_used") ?? trial.used
        trial.reported = true
        known.trial = trial
    }

    /// Takes a text that was carried to the device: the file that answers its last request, or a list of withdrawn files.
    static func carried(
        _ known: inout Known, _ token: String, _ place: Place, _ device: SignedMachine?, now: Int64
    ) throws -> Age {
        var offline = known.offlineOrNew
        if let list = Withdrawn.read(token, place, known.keys) {
            if let held = offline.withdrawn, held.serial > list.serial { throw Doubt.outdated }
            offline.withdrawn = list
            known.offline = offline
            known.seen = max(known.seen, list.issuedAt)
            return .fresh
        }
        let file = try Lease.read(token, place, known.keys)
        let age = try check(file, token, offline, device, now: now)
        if age == .fresh {
            offline.file = file
            offline.asked = nil
            offline.release = nil
            noteSigned(&known, file.issuedAt)
            known.seen = max(file.issuedAt, now)
        }
        known.offline = offline
        return age
    }

    /// Notes that the floating seat is given back: its lease does not count any more, and the license stays.
    static func seatBack(_ known: inout Known) {
        known.license?.proof = nil
        known.license?.fence = nil
        known.license?.isAway = true
    }

    /// Gives an instance up: neither a lease nor a file for it counts any more.
    static func leave(_ known: inout Known, _ instanceID: String) {
        if let license = known.license, license.instanceID.isExactly(instanceID) {
            releaseTakenAway(&known)
            leaveHeld(&known, nil)
            known.license = nil
        }
        if let file = known.usableFile, file.instanceID.isExactly(instanceID) {
            known.offline?.released = file.serial
        }
    }

    private static func isSame(_ held: HeldLicense, _ asked: HeldLicense) -> Bool {
        held.instanceID.isExactly(asked.instanceID) && held.key.isExactly(asked.key)
    }

    private static func check(
        _ file: Lease, _ token: String, _ offline: OfflineFacts, _ device: SignedMachine?, now: Int64
    ) throws -> Age {
        guard let terms = file.file else { throw Doubt.malformed }
        guard offline.isForMachine(file, device) else { throw Doubt.anotherDevice }
        guard file.serial > offline.released else { throw Doubt.outdated }
        if let held = offline.file?.token, held.isExactly(token) { return .same }
        guard let asked = offline.asked, asked.nonce.isExactly(terms.nonce),
            asked.licenseKeyHash.isExactly(file.licenseKeyHash)
        else { throw Doubt.notAsked }
        if now < file.notBefore { throw Doubt.notYet }
        if now > file.expiresAt { throw Doubt.over }
        return .fresh
    }

    /// Notes the time of a proof or file. Only the instances that were given up in the newest second are remembered.
    private static func noteSigned(_ known: inout Known, _ issuedAt: Int64) {
        if issuedAt > known.signedAt {
            known.signedAt = issuedAt
            known.left = []
        }
    }

    /// When the license is forgotten or replaced, a file that it has taken away stays so.
    private static func releaseTakenAway(_ known: inout Known) {
        guard let proof = known.license?.proof, let file = known.usableFile, proof.takesAway(file) else { return }
        known.offline?.released = file.serial
    }

    /// The instance that was held is given up when another one or none is held.
    private static func leaveHeld(_ known: inout Known, _ instanceID: String?) {
        guard let license = known.license else { return }
        if let instanceID, license.instanceID.isExactly(instanceID) { return }
        known.left.append(license.instanceID)
    }

    private static func compare(_ offered: Proof, _ held: Proof?, _ known: Known) -> Age {
        let issuedAt = offered.issuedAt
        guard let held else {
            let wasLeft = known.left.contains { one in one.isExactly(offered.instanceID) }
            let isOld = issuedAt < known.signedAt || (issuedAt == known.signedAt && wasLeft)
            return isOld ? .stale : .fresh
        }
        if issuedAt != held.issuedAt { return issuedAt > held.issuedAt ? .fresh : .stale }
        if offered.strictness != held.strictness { return offered.strictness > held.strictness ? .fresh : .stale }
        return offered.serial > held.serial ? .fresh : .same
    }
}
