import Foundation

/// What a ``LicenseClient`` is made of. What is not set has a default; needed are ``baseURL`` with ``sdkKey``, or ``keys`` in their place.
///
/// ```swift
/// var options = ClientOptions(place: place, storage: storage)
/// options.baseURL = URL(string: "https://licenses.example.com")
/// options.sdkKey = "kl_sdk_1"
/// options.appVersion = "1.4.0"
/// ```
public struct ClientOptions: Sendable {
    /// The tenant and the product whose signature is expected.
    public let place: Place
    /// Where the license, and the device's own key for license files, are kept.
    public let storage: Storage
    /// The address of the license server. An app that never reaches a server ships ``keys`` instead.
    public var baseURL: URL?
    /// The SDK key, which identifies the app and is no secret.
    public var sdkKey: String?
    /// The public keys to ship with the app by their ids, base64, so that it does not have to fetch them first.
    public var keys: [String: String] = [:]
    /// How the vendor and the customer see this device, such as its host name.
    public var deviceName: String?
    /// The version of the app.
    public var appVersion: String?
    /// When the app was built, in Unix seconds: a license covers builds until the end of its updates. Compile it in, where the user
    /// cannot change it.
    public var appBuiltAt: Int64?
    /// Where the app gets its releases from, such as `stable`.
    public var appChannel: String?
    /// `macos`, `ios`, `linux` …
    public var platform: String?
    /// Says what the device is, so that it keeps its seat when its storage is lost, and a copy of its storage is worth nothing elsewhere:
    /// ``DeviceIdentity/ofThisMachine(_:)``, unless it is replaced. It is asked at the start and before each call. While it says nil,
    /// what it said before stays; a device that has said nothing is recognized by what is in its storage.
    public var identity: @Sendable (Place) async -> DeviceIdentity? = { place in DeviceIdentity.ofThisMachine(place) }
    /// Finds the relays of the customer's network, which give seats before the vendor's server is asked: their addresses in order.
    public var relays: (@Sendable () async -> [String])?
    /// Who uses the app, by a stable id: for licenses whose seats are of users.
    public var userID: String?
    /// The length of a trial where the server has never named one.
    public var defaultTrialDays: Int?
    /// Refuses unsigned settings: set it for a product that has a trial length. It is off by default.
    public var enforceSettings = false
    /// How many seconds apart a running app validates, 12 hours by default. A lease that ends sooner is renewed at half of its time.
    public var refreshEvery: TimeInterval = 12 * 3600
    /// How many days before its end a license is told to end soon.
    public var expiringDays = 7
    /// How many seconds one request may take, 15 by default.
    public var timeout: TimeInterval = 15
    /// Called when the storage cannot be read or written; the app goes on. It must not make a call.
    public var onStorageError: (@Sendable (Error) -> Void)?
    /// Sends requests: with `URLSession`, unless it is replaced.
    public var transport: Transport = URLSessionTransport()
    /// The time: that of the system, unless it is replaced.
    public var clock: ClientClock = SystemClock()

    /// With defaults for all but these.
    public init(place: Place, storage: Storage) {
        self.place = place
        self.storage = storage
    }

    /// The time of the device's clock in milliseconds.
    var nowMs: Int64 {
        let ms = Whole.of((clock.now.timeIntervalSince1970 * 1000).rounded())
        return min(max(ms, -Json.most), Json.most)
    }

    /// The time of the device's clock in seconds.
    var now: Int64 {
        let ms = nowMs
        return ms >= 0 ? ms / 1000 : (ms - 999) / 1000
    }

    /// The address of the license server, without a slash at its end.
    var address: String? {
        baseURL.map { url in ClientOptions.withoutSlash(url.absoluteString) }
    }

    /// - Throws: ``SetupError`` for what cannot work.
    func check() throws {
        if let address {
            guard ClientOptions.isAddress(address) else { throw SetupError.address }
            guard let sdkKey, !sdkKey.isEmpty, sdkKey.utf8.allSatisfy(ClientOptions.isGraphic) else {
                throw SetupError.sdkKey
            }
        } else if keys.isEmpty {
            throw SetupError.nothingToBelieve
        }
    }

    /// Whether a text is the address of a server.
    static func isAddress(_ text: String) -> Bool {
        let lower = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { scheme in lower.begins(with: scheme) }) else { return false }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        guard let first = rest.first, first != UInt8(ascii: "/") else { return false }
        return text.utf8.allSatisfy { byte in isGraphic(byte) && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#") }
    }

    static func withoutSlash(_ address: String) -> String {
        var bytes = Array(address.utf8)
        while bytes.last == UInt8(ascii: "/") {
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isGraphic(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7f
    }
}

/// Why a client cannot be made.
public enum SetupError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The address of the server does not begin with `https://` or `http://`, or holds what no address can.
    case address
    /// The SDK key is missing, or holds what no header can.
    case sdkKey
    /// There is neither a server nor a key that signs for the app.
    case nothingToBelieve

    /// In English, for logs.
    public var description: String {
        switch self {
        case .address: return "the address of the server is not one that begins with https://"
        case .sdkKey: return "this is not an SDK key"
        case .nothingToBelieve: return "without a server, ship the keys that sign for the app"
        }
    }
}
