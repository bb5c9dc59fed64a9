import Foundation

/// Why a call did not do what it should: what every call throws. The state says what it means for the app.
///
/// ```swift
/// do {
///     try await client.activate(typed)
/// } catch let problem as Problem where problem.code == .seatLimitReached {
///     print("Deactivate another device first")
/// }
/// ```
public struct Problem: Error, Equatable, Sendable, CustomStringConvertible, LocalizedError {
    /// The closed list of all clients.
    public enum Code: String, CaseIterable, Sendable {
        /// No answer came in time.
        case offline
        /// The server does not work at the moment.
        case unavailable
        /// Too many calls; nothing is sent again before ``Problem/retryAfter``.
        case rateLimited = "rate_limited"
        /// What came is no answer of the server, or not a newer one: a proxy or a sign-in page of a network, perhaps.
        case notGenuine = "not_genuine"
        /// The SDK key, the tenant id or the product id of the app is wrong.
        case misconfigured
        /// The tenant may not activate licenses.
        case forbidden
        /// There is no license on this device.
        case noLicense = "no_license"
        /// The product has no trial.
        case noTrial = "no_trial"
        /// The client has no server, so it sends nothing.
        case noServer = "no_server"
        /// The device has a license file: release gives its seat back.
        case hasFile = "has_file"
        /// What was carried here is neither a license file nor a list of withdrawn files.
        case malformed
        /// It was signed with a key that this app does not know.
        case unknownKey = "unknown_key"
        /// It was changed on the way, or was made for another product.
        case badSignature = "bad_signature"
        /// It was made for another machine.
        case anotherDevice = "another_device"
        /// It answers another request than the last one of this device.
        case notAsked = "not_asked"
        /// It is older than what this device has, or was given back.
        case outdated
        /// The clock of this machine is before it.
        case notYet = "not_yet"
        /// It has ended.
        case over
        /// There is no such license.
        case notFound = "not_found"
        /// The license was revoked.
        case revoked
        /// The license is suspended.
        case suspended
        /// The license has ended.
        case expired
        /// The app was built after the updates of the license ended.
        case buildNotCovered = "build_not_covered"
        /// The license has another key now.
        case reminted
        /// The device was deactivated.
        case inactive
        /// All seats are taken.
        case seatLimitReached = "seat_limit_reached"
        /// The floating seat ran out, or its device has taken another since.
        case seatLost = "seat_lost"
        /// The seats are of people: the key is of a person without one, or another person uses this device.
        case assignedToAnother = "assigned_to_another"
        /// No more seats may be borrowed.
        case borrowLimitReached = "borrow_limit_reached"
        /// The plan of the vendor allows no more.
        case planLimit = "plan_limit"
        /// The license refuses for another reason.
        case refused
    }

    /// For programs. Its raw value is in the words of all clients, such as `seat_limit_reached`.
    public let code: Code
    /// In English, for logs and support.
    public let message: String
    /// How many seconds nothing is sent again.
    public internal(set) var retryAfter: TimeInterval?
    /// With ``Code/seatLimitReached`` of floating seats: how many wait for one, this device with them.
    public internal(set) var waiting: Double?
    /// With ``Code/buildNotCovered``: the license covers builds until then, in Unix seconds.
    public internal(set) var updatesUntil: Int64?
    /// With ``Code/buildNotCovered``: the newest release that is covered, if the vendor lists any.
    public internal(set) var newestRelease: Release?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message and the code.
    public var description: String { "\(message) (\(code.rawValue))" }

    /// The message and the code.
    public var errorDescription: String? { description }
}

extension Problem {
    /// The problem that an answer without success stands for; nil is no answer.
    static func of(_ answered: Answered?) -> Problem {
        guard let answered else { return Problem(.offline, "the license server did not answer in time") }
        let record = answered.record
        let said = record?.text("error")
        let notCovered = NotCovered.inAnswer(answered.body)
        let code = named(answered, saysWhy: said != nil, isNotCovered: notCovered != nil)
        var problem = Problem(code, worded(code, said, answered.status))
        if let ms = answered.retryAfterMs {
            problem.retryAfter = Double(max(ms, 0)) / 1000
        } else if let seconds = record?.seconds("retry_after") {
            problem.retryAfter = Double(seconds)
        }
        if code == .seatLimitReached {
            problem.waiting = record?["waiting"]?.asDouble
        }
        if code == .buildNotCovered {
            problem.updatesUntil = notCovered?.updatesUntil
            problem.newestRelease = notCovered?.newestRelease
        }
        return problem
    }

    /// Whether sending the same again may help.
    var isPassing: Bool {
        code == .offline || code == .unavailable || code == .rateLimited || code == .notGenuine
    }

    /// Whether the server has answered, though not with a success: a wrong key, no seat left.
    var isAnswer: Bool {
        !isPassing && code != .noServer
    }

    private static func named(_ answered: Answered, saysWhy: Bool, isNotCovered: Bool) -> Code {
        let status = answered.status
        if status == 429 { return .rateLimited }
        if status >= 500 { return .unavailable }
        if (status < 400 && !isNotCovered) || !saysWhy { return .notGenuine }
        if let reason = answered.record?.text("reason"), let stated = refused(by: reason) { return stated }
        if status == 403 { return .forbidden }
        return status == 400 || status == 401 || status == 404 ? .misconfigured : .refused
    }

    private static func worded(_ code: Code, _ said: String?, _ status: Int) -> String {
        if code == .notGenuine { return "this is no answer of the license server" }
        return said ?? "the license server answered \(status)"
    }

    /// The code of a reason that a license refuses for; nil for a reason of a newer server.
    private static func refused(by reason: String) -> Code? {
        let ofLicense = Code.allCases.drop(while: { code in code != .notFound })
        return ofLicense.first(where: { code in code.rawValue.isExactly(reason) })
    }
}

/// An answer of a server; the body is nil when it is no JSON.
struct Answered: Sendable {
    let status: Int
    let body: Json?
    let retryAfterMs: Int64?

    /// The members of the body; nil when it is no object.
    var record: Record? { body?.asRecord }
}
