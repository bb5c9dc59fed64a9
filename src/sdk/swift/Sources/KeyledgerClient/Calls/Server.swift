import Foundation

/// The server at one address: calls of the client interface, with their time limits and repetitions.
final class Server: Sendable {
    /// A server that asks for a longer pause is not waited for within a call.
    private static let longestPause: TimeInterval = 10

    /// Answers of the server are shorter; what is longer comes from something else.
    private static let longestText = 65_536

    /// The address of a relay; nil for the vendor's server.
    let relay: String?
    private let root: String
    private let options: ClientOptions
    private let notBeforeMs = Locked<Int64>(Int64.min)

    init(_ address: String, isVendor: Bool, _ options: ClientOptions) {
        self.relay = isVendor ? nil : address
        self.root = "\(ClientOptions.withoutSlash(address))/\(JavaScriptText.segment(options.place.tenantID))"
        self.options = options
    }

    /// Sends a call up to so many times, until `judge` finds nothing wrong with an answer, or a problem that stays.
    ///
    /// - Throws: ``Problem``
    func send(_ name: String, _ body: Record?, attempts: Int, _ judge: (Answered) async -> Problem?) async throws {
        let notBefore = notBeforeMs.with { notBefore in notBefore }
        let now = options.nowMs
        if notBefore > now {
            var problem = Problem(.rateLimited, "the license server asked for a pause, which is not over")
            problem.retryAfter = Double(notBefore - now) / 1000
            throw problem
        }
        let address = "\(root)/\(JavaScriptText.segment(options.place.productID))/\(name)"
        let text = body.map { body in JsonWriter.write(body) }
        var attempt = 0
        while true {
            let problem: Problem
            if let answered = await request(address, text, withKey: true) {
                guard let found = await judge(answered) else { return }
                problem = found
            } else {
                problem = Problem.of(nil)
            }
            if !problem.isPassing { throw problem }
            let pause = problem.retryAfter ?? 0
            if problem.retryAfter != nil {
                let end = options.nowMs + Whole.of(min(pause * 1000, Double(Json.most)))
                notBeforeMs.with { notBefore in notBefore = end }
            }
            attempt += 1
            if attempt >= attempts || pause > Server.longestPause || Task.isCancelled { throw problem }
            await options.clock.pause(pause + Schedule.jitter(attempt - 1, 0.5, 8))
        }
    }

    /// Fetches the published keys; only those whose id is the hash of the key are returned.
    func publishedKeys() async -> Keys {
        guard let answered = await request("\(root)/.well-known/service-keys", nil, withKey: false), answered.status == 200,
            let published = answered.record?.record("keys")
        else { return [:] }
        var keys = Keys()
        for member in published.members {
            if let key = member.value.asText, Keyset.isKey(key, of: member.name) {
                keys[member.name] = key
            }
        }
        return keys
    }

    /// Sends a request once; nil when no complete answer came within the time.
    private func request(_ address: String, _ body: String?, withKey: Bool) async -> Answered? {
        guard let url = URL(string: address) else { return nil }
        var headers: [String: String] = [:]
        if withKey, let key = options.sdkKey {
            headers["x-service-sdk-key"] = key
        }
        if body != nil {
            headers["content-type"] = "application/json"
        }
        let request = TransportRequest(url: url, headers: headers, body: body, timeout: options.timeout)
        guard let answer = try? await options.transport.send(request) else { return nil }
        let nowMs = options.nowMs
        let retryAfterMs = answer.retryAfter.flatMap { header in Times.retryAfterMs(header, nowMs: nowMs) }
        let bytes = Array(answer.body.utf8)
        let read = bytes.count > Server.longestText ? nil : JsonReader.read(bytes)
        return Answered(status: answer.status, body: read, retryAfterMs: retryAfterMs)
    }
}

/// The relays of the customer's network and the vendor's server.
final class Servers: Sendable {
    /// It alone is believed about its keys, and asked about settings and trials. Nil for a client without a server.
    let vendor: Server?
    private let options: ClientOptions
    private let relays = Locked<[String: Server]>([:])

    init(_ options: ClientOptions) {
        self.options = options
        self.vendor = options.address.map { address in Server(address, isVendor: true, options) }
    }

    /// All in the order in which they are asked for a seat: the relays, and the vendor's server at the end. They are looked up anew each
    /// time: a laptop changes its network.
    func inOrder() async -> [Server] {
        var found: [Server] = []
        if let find = options.relays {
            found = await find().compactMap { address in relay(at: address) }
        }
        if let vendor {
            found.append(vendor)
        }
        return found
    }

    /// The one that gave a seat; nil without a server, and for an address that was edited in the storage.
    func that(_ address: String?) -> Server? {
        guard let address else { return vendor }
        return relay(at: address)
    }

    private func relay(at address: String) -> Server? {
        guard ClientOptions.isAddress(address) else { return nil }
        return relays.with { relays -> Server in
            if let known = relays[address] { return known }
            let relay = Server(address, isVendor: false, options)
            relays[address] = relay
            return relay
        }
    }
}
