import Foundation

@testable import KeyledgerClient

/// Options of a client that reaches nothing but what is handed in.
enum Made {
    static func options(
        _ transport: StubTransport = StubTransport(), _ clock: StubClock = StubClock(), _ storage: Storage = MemoryStorage()
    ) throws -> ClientOptions {
        let place = try Place(tenantID: "acme", productID: "editor")
        var options = ClientOptions(place: place, storage: storage)
        options.baseURL = URL(string: "https://licenses.example.com/")
        options.sdkKey = "kl_sdk_1"
        options.identity = { _ in nil }
        options.transport = transport
        options.clock = clock
        return options
    }

    /// What a server answers that was asked for a page on which a person chooses a license.
    static let page = """
        {"device_code":"d1","user_code":"WDJB-MJHT","verification_uri_complete":"https://acme.example.com/activate?code=WDJB-MJHT",\
        "interval":5,"expires_in":600}
        """

    static func freeTier() -> StubTransport {
        StubTransport { _ in TransportAnswer(status: 200, body: "{\"free_tier_enabled\":true}") }
    }
}

/// Answers each request with what the test says, or not at all, and keeps what was sent.
final class StubTransport: Transport {
    struct NoNetwork: Error {}

    private let requests = Locked<[TransportRequest]>([])
    private let answer: @Sendable (TransportRequest) -> TransportAnswer?

    init(_ answer: @escaping @Sendable (TransportRequest) -> TransportAnswer? = { _ in nil }) {
        self.answer = answer
    }

    var sent: [TransportRequest] {
        requests.with { requests in requests }
    }

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        requests.with { requests in requests.append(request) }
        guard let answer = self.answer(request) else { throw NoNetwork() }
        return answer
    }
}

/// Its pauses are over at once, and are kept.
final class StubClock: ClientClock {
    private let passed = Locked<TimeInterval>(0)
    private let paused = Locked<[TimeInterval]>([])

    var pauses: [TimeInterval] {
        paused.with { paused in paused }
    }

    func advance(_ seconds: TimeInterval) {
        passed.with { passed in passed += seconds }
    }

    var now: Date { Date(timeIntervalSince1970: 1_793_530_000 + elapsed) }

    var elapsed: TimeInterval {
        passed.with { passed in passed }
    }

    func pause(_ seconds: TimeInterval) async {
        paused.with { paused in paused.append(seconds) }
        advance(seconds)
    }
}

/// A storage that can be read, and not written.
struct FullStorage: Storage {
    struct Full: Error {}

    func read() throws -> String? {
        nil
    }

    func write(_ text: String) throws {
        throw Full()
    }
}
