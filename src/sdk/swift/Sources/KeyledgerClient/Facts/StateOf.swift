/// What a state depends on, besides the facts and the time. What is nil is not known.
struct Circumstances {
    /// The last attempt to reach the server failed.
    var failing = false
    var device: SignedMachine?
    var builtAt: Int64?
    var defaultTrialDays: Int64?
}

/// The state that facts allow: the first row of the table in the reference that fits. It depends on nothing else.
struct StateOf {
    private static let tolerance: Int64 = 300
    private static let day = 86_400.0

    private let time: Int64
    private let around: Circumstances
    private let freeTier: Bool

    /// The state of an app. The facts are nil before the storage was read.
    static func state(_ known: Known?, now: Int64, _ around: Circumstances) -> LicenseState {
        guard let known else { return LicenseState(status: .starting, clockSetBack: false) }
        let given = StateOf(time: known.time(at: now), around: around, freeTier: known.freeTier)
        let status = given.ofHeld(known) ?? given.ofInstall(known)
        return LicenseState(status: status, clockSetBack: now < known.seen - tolerance)
    }

    private func ofInstall(_ known: Known) -> LicenseState.Status {
        let days = known.trialDays ?? around.defaultTrialDays
        let trialDays: Int64? = days == 0 ? nil : days
        guard let trial = known.trial else {
            return freeTier ? .free(trialDays: trialDays) : .unlicensed(trialDays: trialDays)
        }
        // As in JavaScript, so that no length that was signed overflows.
        let until = Whole.of(Double(trial.startedAt) + Double(days ?? 0) * StateOf.day)
        if !trial.used && time < until { return .trial(until: until) }
        return freeTier ? .free(trialDays: nil) : .expired(of: .trial, at: until, freeTier: false)
    }

    private func ofHeld(_ known: Known) -> LicenseState.Status? {
        let license = known.license
        let file = known.usableFile
        var online: LicenseState.Status?
        var carried: LicenseState.Status?
        if let license, let proof = license.proof {
            online = ofProof(proof, license)
        }
        if let offline = known.offline, let file {
            carried = ofFile(file, offline)
        }
        if let online, let carried, let proof = license?.proof, let file {
            return explained(decisive(proof, file, online, carried), license)
        }
        return (online ?? carried).map { status in explained(status, license) }
    }

    private func decisive(
        _ proof: Proof, _ file: Lease, _ online: LicenseState.Status, _ carried: LicenseState.Status
    ) -> LicenseState.Status {
        let isNewer = proof.issuedAt >= file.issuedAt
        let newer = isNewer ? online : carried
        let older = isNewer ? carried : online
        return newer.isGood || proof.takesAway(file) || !older.isGood ? newer : older
    }

    private func ofProof(_ proof: Proof, _ license: HeldLicense) -> LicenseState.Status {
        switch proof {
        case .refusal(let refusal):
            return revoked(refusal.reason, refusal.issuedAt)
        case .lease(let lease):
            if lease.status == "expired" { return .expired(of: .license, at: lease.expiresAt, freeTier: freeTier) }
            if !lease.isGranting { return revoked(lease.status, lease.issuedAt) }
            if let device = around.device, let leased = lease.device, leased.isOther(than: device) {
                return .anotherDevice(freeTier: freeTier)
            }
            return ofLease(lease, .lease, license, around.failing)
        }
    }

    private func ofFile(_ file: Lease, _ offline: OfflineFacts) -> LicenseState.Status {
        if !offline.isForMachine(file, around.device) { return .anotherDevice(freeTier: freeTier) }
        if let list = offline.withdrawn, let id = file.file?.id, list.files.contains(where: { one in one.isExactly(id) }) {
            return .revoked(reason: .withdrawn, at: list.issuedAt, freeTier: freeTier)
        }
        return ofLease(file, .file, nil, false)
    }

    private func ofLease(
        _ lease: Lease, _ source: Grant.Source, _ license: HeldLicense?, _ failing: Bool
    ) -> LicenseState.Status {
        let entitlements = Entitlements.granted(lease.entitlements)
        if time > lease.expiresAt {
            let ended: LicenseState.ExpiredOf = source == .lease ? .lease(entitlements) : .file(entitlements)
            return .expired(of: ended, at: lease.expiresAt, freeTier: freeTier)
        }
        if let updatesUntil = lease.updatesUntil, let builtAt = around.builtAt, builtAt > updatesUntil {
            return .notCovered(updatesUntil: updatesUntil, newestRelease: nil, freeTier: freeTier)
        }
        let kind: LicenseState.LicenseKind = lease.status == "active" ? .licensed : .fallback
        // A lease of the first version says less.
        let ends = lease.token == nil ? license?.expiresAt : lease.licenseExpiresAt
        let isOver = ends.map { end in time >= end } ?? false
        let isInGrace = source == .lease && kind == .licensed && isOver
        let grant = Grant(
            by: source,
            until: lease.expiresAt,
            entitlements: entitlements,
            licenseExpiresAt: ends,
            holder: lease.holder,
            graceUntil: isInGrace ? license?.graceUntil ?? lease.expiresAt : nil
        )
        if failing { return .offline(license: kind, grant: grant) }
        return kind == .licensed ? .licensed(grant) : .fallback(grant)
    }

    /// A reason of a newer server counts as the strictest one.
    private func revoked(_ reason: String, _ at: Int64) -> LicenseState.Status {
        let known: LicenseState.RevokedReason
        switch reason {
        case "suspended": known = .suspended
        case "reminted": known = .reminted
        case "inactive": known = .inactive
        default: known = .revoked
        }
        return .revoked(reason: known, at: at, freeTier: freeTier)
    }

    /// With what the server has said of the build: which release is covered, and why a lease that has ended is not renewed.
    private func explained(_ status: LicenseState.Status, _ license: HeldLicense?) -> LicenseState.Status {
        guard let said = license?.notCovered, let builtAt = around.builtAt, builtAt > said.updatesUntil else {
            return status
        }
        switch status {
        case .notCovered(let updatesUntil, _, let freeTier):
            return .notCovered(updatesUntil: updatesUntil, newestRelease: said.newestRelease, freeTier: freeTier)
        case .expired(.lease, _, let freeTier):
            return .notCovered(updatesUntil: said.updatesUntil, newestRelease: said.newestRelease, freeTier: freeTier)
        default:
            return status
        }
    }
}
