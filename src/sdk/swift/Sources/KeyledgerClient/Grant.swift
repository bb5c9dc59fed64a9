import Foundation

/// What a license grants, and until when. All times are Unix seconds.
public struct Grant: Equatable, Sendable {
    /// What was signed.
    public enum Source: String, Equatable, Sendable {
        /// A lease of the server. When it has ended, connecting again may bring the license back.
        case lease
        /// A license file. When it has ended, the next file brings the license back.
        case file
    }

    /// What was signed.
    public let by: Source
    /// Until when the app may go on without reaching the server or without the next file.
    public let until: Int64
    /// The entitlements and their values.
    public let entitlements: Entitlements
    /// When the license itself ends, for display; nil for a perpetual one.
    public let licenseExpiresAt: Int64?
    /// Whom the license is issued to, for display.
    public let holder: Holder?
    /// While the license goes on after its end: until when, for display.
    public let graceUntil: Int64?

    /// ``until`` as a date.
    public var untilDate: Date { Date(timeIntervalSince1970: Double(until)) }
}

/// What a license grants: names, of which some have a value.
public struct Entitlements: Equatable, Sendable {
    /// How much of something is granted.
    public enum Value: Equatable, Sendable {
        /// It is granted, and has no value.
        case granted
        /// A number, such as that of projects.
        case number(Double)
        /// A text, such as an edition.
        case text(String)

        /// The number; nil for any other value.
        public var asNumber: Double? {
            if case .number(let number) = self { return number }
            return nil
        }

        /// The text; nil for any other value.
        public var asText: String? {
            if case .text(let text) = self { return text }
            return nil
        }

        /// The value of an entitlement; nil for one that is not granted.
        static func of(_ signed: Json) -> Value? {
            switch signed {
            case .flag(let isGranted): return isGranted ? .granted : nil
            case .integer(let whole): return .number(Double(whole))
            case .number(let number): return .number(number)
            case .text(let text): return .text(text)
            case .null, .list, .record: return nil
            }
        }
    }

    struct Entry: Equatable, Sendable {
        let name: String
        let value: Value
    }

    let entries: [Entry]

    /// The names, in the order in which they were signed.
    public var names: [String] {
        entries.map { entry in entry.name }
    }

    /// The value of one of them; nil when it is not among them.
    public subscript(name: String) -> Value? {
        entries.first { entry in entry.name.isExactly(name) }?.value
    }

    /// What of signed members is granted.
    static func granted(_ members: [Record.Member]) -> Entitlements {
        var entries: [Entry] = []
        for member in members {
            if let value = Value.of(member.value) {
                entries.append(Entry(name: member.name, value: value))
            }
        }
        return Entitlements(entries: entries)
    }
}

/// Whom a license is issued to, for display.
public struct Holder: Equatable, Sendable {
    /// The name, if the product names it.
    public let name: String?
    /// The email address, likewise.
    public let email: String?
}

/// A release of the app, as the vendor has listed it.
public struct Release: Equatable, Sendable {
    /// Its version.
    public let version: String
    /// When it was built.
    public let builtAt: Int64
    /// Its page, which begins with `https://`.
    public let url: String?
}
