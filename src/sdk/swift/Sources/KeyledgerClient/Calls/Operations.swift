import Foundation

/// What the calls of a client do. Each is the only one under way, and throws a ``Problem``.
final class Operations: Sendable {
    let keeper: Keeper
    let servers: Servers

    init(_ keeper: Keeper) {
        self.keeper = keeper
        self.servers = Servers(keeper.options)
    }

    var options: ClientOptions { keeper.options }

    /// How the vendor and the customer see the device.
    func name(of known: Known) -> String {
        options.deviceName ?? "Device \(known.installID.prefix(8))"
    }

    /// Takes a seat for this device: at the first of the servers in their order that gives one.
    func activate(_ key: String) async throws {
        let order = await servers.inOrder()
        var problem: Problem?
        for (place, server) in order.enumerated() {
            // A relay that does not answer is not waited for while there is another server.
            let attempts = place + 1 < order.count ? 1 : 3
            do {
                try await activate(at: server, key, Record(), attempts: attempts) { _ in nil }
                keeper.reached(true)
                return
            } catch {
                let failed = Operations.problem(error)
                // What a license says counts more than that a server cannot be reached.
                if let first = problem, !first.isPassing, failed.isPassing { continue }
                problem = failed
            }
        }
        let failed = problem ?? Operations.noServer
        keeper.reached(failed.isAnswer)
        throw failed
    }

    /// Takes a seat at one server. `also` takes what else was answered.
    func activate(
        at server: Server?, _ key: String, _ more: Record, attempts: Int, _ also: (Record) async -> Problem?
    ) async throws {
        let known = keeper.load()
        let relay = server?.relay
        var body = Record()
        body.set("license_key", .text(key))
        body.set("instance_name", .text(name(of: known)))
        body.set("free_tier_instance_id", .text(known.installID))
        // Each server knows its own.
        if let held = known.license, held.relay == relay {
            body.set("instance_id", .text(held.instanceID))
        }
        body.set("user_id", options.userID.map(Json.text))
        say(&body)
        body.add(more)
        try await send(server, "activate", body, attempts: attempts) { answered in
            guard answered.status == 200, let record = answered.record, let instanceID = record.text("instance_id") else {
                return Operations.notGenuine(answered)
            }
            let asked = HeldLicense(key: key, instanceID: instanceID, relay: relay)
            guard await self.takeAnswer(answered, asked) else { return Operations.notGenuine(answered) }
            return await also(record)
        }
    }

    /// Asks for a newer lease; without a license, for the settings and the trial. A floating seat that is gone is taken anew, also at
    /// another server when the one that gave it is out of reach.
    func validate() async throws {
        guard let license = keeper.load().license else { return try await report() }
        if license.isAway { return try await activate(license.key) }
        var body = Operations.seat(of: license)
        say(&body)
        var gone: Answered?
        var problem: Problem?
        do {
            try await send(servers.that(license.relay), "validate", body, attempts: 3) { answered in
                if license.fence != nil && Operations.hasLostSeat(answered) {
                    gone = answered
                    return Problem.of(answered)
                }
                if await self.takeAnswer(answered, license) { return nil }
                if NotCovered.inAnswer(answered.body) != nil {
                    self.keeper.change { known, _ in Take.buildNotCovered(&known, answered.body) }
                }
                return Operations.notGenuine(answered)
            }
        } catch {
            problem = Operations.problem(error)
        }
        if license.fence != nil && (gone != nil || isOutOfReach(license, problem)) {
            return try await replaceSeat(license, gone)
        }
        // Also a license that the server does not know keeps its lease until the end: only a signed refusal ends it.
        keeper.reached(problem == nil)
        if let problem { throw problem }
    }

    /// Starts the trial of this machine. It begins at once, and the server is told as soon as it can be reached.
    func startTrial() async throws {
        var reported: Problem?
        if keeper.load().settings == nil {
            reported = await Operations.problem { try await self.report() }
        }
        let known = keeper.load()
        if known.license != nil || known.trial != nil || known.usableFile != nil { return }
        let days = known.trialDays ?? options.defaultTrialDays.map { days in Int64(days) } ?? 0
        if days == 0 { throw reported ?? Problem(.noTrial, "this product has no trial") }
        keeper.change { known, now in Take.beginTrial(&known, now: now) }
        // The next validate tells the server, if this does not.
        _ = await Operations.problem { try await self.report() }
    }

    /// Sends a call, or says that there is nobody to send it to.
    func send(
        _ server: Server?, _ name: String, _ body: Record?, attempts: Int, _ judge: (Answered) async -> Problem?
    ) async throws {
        guard let server else { throw Operations.noServer }
        try await server.send(name, body, attempts: attempts, judge)
    }

    /// Takes what is signed, with the published keys if its key is not known. What became of it.
    func takeSigned(_ step: (inout Known, Int64) throws -> Age) async -> Taken {
        let taken = keeper.take(step)
        guard case .failure(.unknownKey) = taken, let vendor = servers.vendor else { return taken }
        let fetched = await vendor.publishedKeys()
        if fetched.isEmpty { return taken }
        keeper.change { known, _ in
            for (kid, key) in fetched {
                known.keys[kid] = key
            }
        }
        return keeper.take(step)
    }

    /// A floating seat that is gone, or whose relay is, is taken anew.
    private func replaceSeat(_ license: HeldLicense, _ gone: Answered?) async throws {
        do {
            try await activate(license.key)
        } catch {
            // Only now: an app that gets the next seat at once has never been without one.
            if let gone, keeper.state.status.until != nil {
                _ = await takeAnswer(gone, license)
            }
            throw error
        }
    }

    /// Reports an install without a license, and takes the settings and the trial.
    private func report() async throws {
        let known = keeper.load()
        let status = keeper.state.status
        var isFree = false
        if case .free = status { isFree = true }
        var isTrial = known.trial.map { trial in !trial.reported } ?? false
        if case .trial = status { isTrial = true }
        // Only a trial or a free tier is reported; before that the app only asks for its settings.
        let isReport = known.trial != nil || isFree
        var body = Record()
        body.set("instance_id", .text(known.installID))
        body.set("state", .text(isTrial ? "trial" : isFree ? "free_tier" : "expired"))
        body.set("machine_hash", keeper.device?.hash.map(Json.text))
        addTelemetry(&body)
        let call = isReport ? "keyless" : "config"
        let report: Record? = isReport ? body : nil
        let problem = await Operations.problem {
            try await self.send(self.servers.vendor, call, report, attempts: 3) { answered in
                guard answered.status == 200 else { return Operations.notGenuine(answered) }
                guard await self.takeSettings(answered) else { return Operations.notGenuine(answered) }
                if isReport {
                    self.keeper.change { known, _ in Take.trial(&known, answered.body) }
                }
                return nil
            }
        }
        keeper.reached(problem == nil)
        if let problem { throw problem }
    }

    /// Takes a proof and the settings beside it. Whether the answer shows that the server was reached.
    private func takeAnswer(_ answered: Answered, _ held: HeldLicense) async -> Bool {
        let place = options.place
        let taken = await takeSigned { known, now in try Take.proof(&known, answered.body, held, place, now: now) }
        guard Operations.isNew(taken) else { return false }
        _ = await takeSettings(answered)
        return true
    }

    private func takeSettings(_ answered: Answered) async -> Bool {
        let place = options.place
        let enforce = options.enforceSettings
        let taken = await takeSigned { known, now in
            try Take.settings(&known, answered.body, place, now: now, enforce: enforce)
        }
        return Operations.isNew(taken)
    }

    /// A relay that is out of reach is given up when its lease is nearly over; it keeps the seat until then.
    private func isOutOfReach(_ license: HeldLicense, _ problem: Problem?) -> Bool {
        guard license.relay != nil, let problem, problem.isPassing, case .lease(let lease)? = license.proof else {
            return false
        }
        let left = Double(lease.expiresAt - options.now)
        return left < Double(lease.expiresAt - lease.issuedAt) / 3
    }

    /// Adds what an app says of its device and its build to get a lease, and the form of lease that is signed as a whole.
    private func say(_ body: inout Record) {
        if let device = keeper.device {
            body.set("machine_hash", device.hash.map(Json.text))
            body.set("device", Json.texts(device.components))
        }
        addTelemetry(&body)
        body.set("app_built_at", options.appBuiltAt.map(Json.integer))
        body.set("app_channel", options.appChannel.map(Json.text))
        body.set("lease_version", .integer(2))
    }

    private func addTelemetry(_ body: inout Record) {
        body.set("sdk", .text("swift"))
        body.set("sdk_version", .text(LicenseClient.version))
        body.set("app_version", options.appVersion.map(Json.text))
        body.set("platform", options.platform.map(Json.text))
    }
}

extension Operations {
    static let noServer = Problem(.noServer, "this client has no license server: set baseURL or relays")

    /// What a call says of the seat that is held.
    static func seat(of license: HeldLicense) -> Record {
        var body = Record()
        body.set("license_key", .text(license.key))
        body.set("instance_id", .text(license.instanceID))
        body.set("fence", license.fence.map(Json.integer))
        return body
    }

    /// The problem that a step has thrown; nil when it has thrown none.
    static func problem(of step: () async throws -> Void) async -> Problem? {
        do {
            try await step()
            return nil
        } catch {
            return problem(error)
        }
    }

    /// Nothing but problems is thrown within a call.
    static func problem(_ error: Error) -> Problem {
        error as? Problem ?? Problem(.refused, String(describing: error))
    }

    static func isNew(_ taken: Taken) -> Bool {
        switch taken {
        case .success(let age): return age.isNew
        case .failure: return false
        }
    }

    /// A success or a signed refusal that does not verify, or is older than what is held.
    static func notGenuine(_ answered: Answered) -> Problem {
        let isSuccess = answered.status < 400 && NotCovered.inAnswer(answered.body) == nil
        if isSuccess || answered.record?.has("refusal") == true {
            return Problem(.notGenuine, "the answer carries no valid signature, or an older one")
        }
        return Problem.of(answered)
    }

    static func hasLostSeat(_ answered: Answered) -> Bool {
        guard answered.status == 422, let reason = answered.record?.text("reason") else { return false }
        return reason == "seat_lost" || reason == "assigned_to_another" || reason == "inactive"
    }
}
