/// A state, and when it was looked at: Unix seconds.
struct Look: Equatable, Sendable {
    let state: LicenseState
    let at: Int64

    /// Before anything was looked at.
    static let first = Look(state: LicenseState(status: .starting, clockSetBack: false), at: 0)
}

/// What is to be told of two looks at the state, one after the other.
enum NoticesOf {
    private static let day: Int64 = 86_400
    /// A hundred years, beyond which no number of days is of use.
    private static let mostDays = 36_500

    /// When the license of an active lease or file ends.
    private enum End: Equatable {
        case never
        case at(Int64)
    }

    static func looks(_ before: Look, _ after: Look, expiringDays: Int) -> [Notice] {
        var notices: [Notice] = []
        if let happened = change(from: before.state.status, to: after.state.status) {
            notices.append(happened)
        }
        if let end = soonOver(after, expiringDays), end != soonOver(before, expiringDays) {
            notices.append(.expiring(licenseExpiresAt: end))
        }
        return notices
    }

    private static func change(from before: LicenseState.Status, to after: LicenseState.Status) -> Notice? {
        if case .revoked(let reason, _, _) = after {
            return hadLicense(before) ? .revoked(reason: reason) : nil
        }
        if let end = endOfActive(after) {
            let isRenewed = endOfActive(before).map { former in isLater(end, former) } ?? hadEnded(before)
            if isRenewed { return .renewed(licenseExpiresAt: seconds(of: end)) }
        }
        return after.grant != nil && wasAway(before) ? .restored : nil
    }

    /// Nil in a state that is not active.
    private static func endOfActive(_ status: LicenseState.Status) -> End? {
        guard status.isActive, let grant = status.grant else { return nil }
        return grant.licenseExpiresAt.map(End.at) ?? End.never
    }

    private static func seconds(of end: End) -> Int64? {
        switch end {
        case .never: return nil
        case .at(let seconds): return seconds
        }
    }

    private static func isLater(_ one: End, _ other: End) -> Bool {
        guard case .at(let former) = other else { return false }
        guard case .at(let later) = one else { return true }
        return later > former
    }

    /// Whether the license itself had come to its end.
    private static func hadEnded(_ status: LicenseState.Status) -> Bool {
        if case .expired(.license, _, _) = status { return true }
        return status.grant != nil && !status.isActive
    }

    /// Whether there was a license, and it was not good here.
    private static func wasAway(_ status: LicenseState.Status) -> Bool {
        switch status {
        case .revoked, .notCovered, .anotherDevice, .expired(.lease, _, _), .expired(.file, _, _): return true
        case .starting, .unlicensed, .licensed, .fallback, .offline, .trial, .free, .expired: return false
        }
    }

    private static func hadLicense(_ status: LicenseState.Status) -> Bool {
        if case .revoked = status { return false }
        return status.grant != nil || hadEnded(status) || wasAway(status)
    }

    /// The end of an active license that is near, and has not come.
    private static func soonOver(_ look: Look, _ expiringDays: Int) -> Int64? {
        guard let end = endOfActive(look.state.status), case .at(let seconds) = end else { return nil }
        let days = Int64(min(max(expiringDays, 0), mostDays))
        return look.at >= seconds - days * day && look.at < seconds ? seconds : nil
    }
}
