/// What has happened to the license, for a message to the user of the app. All times are Unix seconds.
///
/// ```swift
/// let subscription = client.onNotice { notice in
///     if case .expiring(let end) = notice { remind(of: end) }
/// }
/// ```
public enum Notice: Equatable, Sendable {
    /// It goes on for longer than was known, or again after its end; nil for ever.
    case renewed(licenseExpiresAt: Int64?)
    /// It is good again after it was withdrawn, or was not good here.
    case restored
    /// It was withdrawn.
    case revoked(reason: LicenseState.RevokedReason)
    /// It ends soon. This is told once in a run of the app for each end.
    case expiring(licenseExpiresAt: Int64)
}

extension Notice: CustomStringConvertible {
    /// JSON in the words of all clients.
    public var description: String { JsonWriter.write(json) }

    /// The notice as an object.
    var json: Record {
        var json = Record()
        switch self {
        case .renewed(let end):
            json.set("notice", .text("renewed"))
            json.set("licenseExpiresAt", end.map(Json.integer) ?? Json.null)
        case .restored:
            json.set("notice", .text("restored"))
        case .revoked(let reason):
            json.set("notice", .text("revoked"))
            json.set("reason", .text(reason.rawValue))
        case .expiring(let end):
            json.set("notice", .text("expiring"))
            json.set("licenseExpiresAt", .integer(end))
        }
        return json
    }
}
