/// The present state of an app. There is exactly one at any time. Its description is JSON in the words of all clients, for logs and
/// support. It is not called `State`, since SwiftUI has that name. All times are Unix seconds.
///
/// ```swift
/// func title(_ state: LicenseState) -> String {
///     switch state.status {
///     case .licensed, .fallback: return "Thank you"
///     case .offline(_, let grant): return "Connect before \(grant.untilDate)"
///     case .trial(let until): return "The trial ends at \(Date(timeIntervalSince1970: Double(until)))"
///     default: return "Enter a license key"
///     }
/// }
/// ```
public struct LicenseState: Equatable, Sendable, CustomStringConvertible {
    /// What an app shows and allows.
    public enum Status: Equatable, Sendable {
        /// The storage has not been read yet.
        case starting
        /// No license, no trial under way, no free tier: ask for a license key, or offer the trial, whose days are there if it can be
        /// started.
        case unlicensed(trialDays: Int64?)
        /// The license is good.
        case licensed(Grant)
        /// The license has ended, and its fallback entitlements stay.
        case fallback(Grant)
        /// The last attempts to reach the server failed; the stored lease is good until its end. `license` is what the state would be
        /// with a connection.
        case offline(license: LicenseKind, grant: Grant)
        /// A trial is under way, until its end.
        case trial(until: Int64)
        /// The app may be used with its free tier. The days of a trial are there if it can be started.
        case free(trialDays: Int64?)
        /// Something has ended, at that time. `freeTier` says whether the app may continue with its free tier.
        case expired(of: ExpiredOf, at: Int64, freeTier: Bool)
        /// The license was withdrawn from this device, at that time.
        case revoked(reason: RevokedReason, at: Int64, freeTier: Bool)
        /// The app was built after the updates of the license ended: offer an older build, or to extend the updates. The newest release
        /// that is covered is there if the vendor lists any.
        case notCovered(updatesUntil: Int64, newestRelease: Release?, freeTier: Bool)
        /// The license was given to another machine: validate asks for a lease for this one; in place of a file, ask for a new one.
        case anotherDevice(freeTier: Bool)
    }

    /// What a license grants without a connection.
    public enum LicenseKind: String, Equatable, Sendable {
        /// As ``Status/licensed(_:)`` does.
        case licensed
        /// As ``Status/fallback(_:)`` does.
        case fallback
    }

    /// What has ended.
    public enum ExpiredOf: Equatable, Sendable {
        /// A lease, with what it granted. Connecting again may bring the license back.
        case lease(Entitlements)
        /// A license file, with what it granted. The next file brings the license back.
        case file(Entitlements)
        /// The license itself.
        case license
        /// The trial.
        case trial
    }

    /// Why a license was withdrawn.
    public enum RevokedReason: String, Equatable, Sendable {
        /// The vendor has revoked it.
        case revoked
        /// The vendor has suspended it.
        case suspended
        /// It has another key now.
        case reminted
        /// The device was deactivated.
        case inactive
        /// The license file is on the list of withdrawn files.
        case withdrawn
    }

    /// What the app shows and allows.
    public let status: Status
    /// The clock of the device is behind a time that was already seen. That later time is then used.
    public let clockSetBack: Bool

    /// What the state grants; nil when it grants nothing.
    public var grant: Grant? { status.grant }

    /// Whether the app may use what has this name.
    public func has(_ entitlement: String) -> Bool {
        value(entitlement) != nil
    }

    /// How much of it the app may use; nil when it is not granted.
    public func value(_ entitlement: String) -> Entitlements.Value? {
        grant?.entitlements[entitlement]
    }

    /// JSON in the words of all clients.
    public var description: String {
        JsonWriter.write(StateJson.of(self))
    }
}

extension LicenseState.Status {
    /// What it grants; nil when it grants nothing.
    var grant: Grant? {
        switch self {
        case .licensed(let grant), .fallback(let grant), .offline(_, let grant): return grant
        case .starting, .unlicensed, .trial, .free, .expired, .revoked, .notCovered, .anotherDevice: return nil
        }
    }

    /// Whether the license goes on: it is good, and has not ended.
    var isActive: Bool {
        switch self {
        case .licensed: return true
        case .offline(let license, _): return license == .licensed
        case .starting, .unlicensed, .fallback, .trial, .free, .expired, .revoked, .notCovered, .anotherDevice: return false
        }
    }

    /// Good is a status that grants something, and one whose build is not covered.
    var isGood: Bool {
        if case .notCovered = self { return true }
        return grant != nil
    }

    /// When it ends by itself.
    var until: Int64? {
        if case .trial(let until) = self { return until }
        return grant?.until
    }
}
