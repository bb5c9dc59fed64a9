import Foundation

/// The client of an app: activates, validates, and has one state to show, also without a network until a lease or a license file ends.
///
/// It may be used from any task and thread, and sends one request at a time. A call ends within its attempts, and throws a ``Problem``;
/// ``state``, ``has(_:)`` and ``value(_:)`` never wait for one. It starts nothing of its own unless ``start()`` is called. Without a
/// server, what needs one throws ``Problem/Code/noServer``.
///
/// ```swift
/// let client = try LicenseClient(options)
/// await client.load()
/// if case .unlicensed = client.state.status {
///     try await client.activate("ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7")
/// }
/// if client.has("export") {
///     print("with export")
/// }
/// ```
public actor LicenseClient {
    /// The version of this client.
    public static let version = "0.1.0"

    private static let purchasePause: TimeInterval = 3
    private static let purchasePauses = 10

    private let keeper: Keeper
    private let schedule: Schedule
    private let calls: Operations
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var validating: Task<LicenseState, Error>?
    private var running: Task<Void, Never>?

    /// Makes a client; nothing is read or sent yet.
    ///
    /// - Throws: ``SetupError`` when there is neither a server nor a key to believe, and for an address or an SDK key that is none.
    public init(_ options: ClientOptions) throws {
        try options.check()
        let keeper = Keeper(options)
        self.keeper = keeper
        self.schedule = Schedule(options)
        self.calls = Operations(keeper)
    }

    deinit {
        running?.cancel()
    }

    // MARK: The state

    /// The present state, which may change by itself as time passes. Reading it never waits for a network or another thread's write. Once
    /// a minute it writes the time to the storage, unless ``run()`` or ``start()`` does that.
    public nonisolated var state: LicenseState { keeper.state }

    /// The present state and each new one, for as long as it is read. Whoever is slow gets the newest.
    ///
    /// ```swift
    /// for await state in client.states {
    ///     show(state)
    /// }
    /// ```
    public nonisolated var states: AsyncStream<LicenseState> { keeper.states() }

    /// Whether the present state grants an entitlement.
    ///
    /// ```swift
    /// if client.has("export") { showExport() }
    /// ```
    public nonisolated func has(_ entitlement: String) -> Bool {
        state.has(entitlement)
    }

    /// The value of an entitlement in the present state; nil when it is not granted.
    ///
    /// ```swift
    /// let most = client.value("projects")?.asNumber ?? 3
    /// ```
    public nonisolated func value(_ entitlement: String) -> Entitlements.Value? {
        state.value(entitlement)
    }

    /// Calls the listener with what happens to the license and concerns the user, on the thread that has found it, until the result is
    /// gone. It may read the state, and must not wait for a call: the one that has found it is still under way. An end that comes near is
    /// told at the next look: within a minute by ``run()`` and ``start()``, else with the next call.
    ///
    /// ```swift
    /// let subscription = client.onNotice { notice in print(notice) }
    /// ```
    public nonisolated func onNotice(_ listener: @escaping @Sendable (Notice) -> Void) -> NoticeSubscription {
        let keeper = self.keeper
        let id = keeper.listen(listener)
        return NoticeSubscription { [weak keeper] in keeper?.forget(id) }
    }

    // MARK: Calls

    /// Reads the storage, without a network, and says which state was stored. Before that the state is `starting`.
    ///
    /// ```swift
    /// let stored = await client.load()
    /// ```
    @discardableResult
    public func load() async -> LicenseState {
        await inTurn { calls -> LicenseState in
            calls.keeper.load()
            return calls.keeper.state
        }
    }

    /// Takes a seat with a license key that a person has typed. The same device never takes a second one.
    ///
    /// ```swift
    /// do {
    ///     try await client.activate(typed)
    /// } catch let problem as Problem where problem.code == .seatLimitReached {
    ///     print("Deactivate another device first")
    /// }
    /// ```
    ///
    /// - Throws: ``Problem`` when there is no seat for it, or no answer.
    @discardableResult
    public func activate(_ licenseKey: String) async throws -> LicenseState {
        try await told { calls in try await calls.activate(licenseKey) }
    }

    /// Takes a seat with a license that a person chooses in the vendor's portal, without typing a key. `show` opens the page in their
    /// browser, and shows the code beside it. It waits until they have chosen, ten minutes at most, or until its task is canceled; a
    /// problem that passes does not end the wait.
    ///
    /// ```swift
    /// try await client.activateInBrowser { page in
    ///     await UIApplication.shared.open(page.url)
    /// }
    /// ```
    ///
    /// - Throws: ``Problem``, with ``Problem/Code/refused`` when no license was chosen.
    @discardableResult
    public func activateInBrowser(_ show: @Sendable (ActivationPage) async -> Void) async throws -> LicenseState {
        let waiting = try await inTurn { calls in try await calls.askInBrowser() }
        await show(waiting.page)
        var left = waiting.polls
        while left > 0 && !Task.isCancelled {
            left -= 1
            await keeper.options.clock.pause(Double(waiting.interval))
            var chosen: String?
            do {
                chosen = try await inTurn { calls in try await calls.pollBrowser(waiting.deviceCode) }
            } catch let problem as Problem where problem.isPassing {
                continue
            }
            if let key = chosen { return try await activate(key) }
        }
        throw Operations.givenUp
    }

    /// Asks the server now. Calls at the same time share one request.
    ///
    /// ```swift
    /// do {
    ///     try await client.validate()
    /// } catch {
    ///     // With a good lease the app goes on: what it may do is in the state.
    ///     print("\(error): \(client.state)")
    /// }
    /// ```
    ///
    /// - Throws: ``Problem`` when there is no answer, or one that changes nothing for the better. The state stays good as long as its
    ///   lease is.
    @discardableResult
    public func validate() async throws -> LicenseState {
        if let validating { return try await validating.value }
        let task = Task { try await self.validateAlone() }
        validating = task
        return try await task.value
    }

    /// Gives the seat back and forgets the license.
    ///
    /// ```swift
    /// try await client.deactivate() // another device may take the seat
    /// ```
    ///
    /// - Throws: ``Problem`` when there is no license, or no answer; with a license file, ``Problem/Code/hasFile``.
    @discardableResult
    public func deactivate() async throws -> LicenseState {
        try await told { calls in try await calls.deactivate() }
    }

    /// Starts the trial of this machine, also without a connection when its length is known.
    ///
    /// ```swift
    /// if case .trial(let until) = try await client.startTrial().status {
    ///     print("the trial ends at \(until)")
    /// }
    /// ```
    ///
    /// - Throws: ``Problem`` when the product has no trial, or its length is not known and there is no answer.
    @discardableResult
    public func startTrial() async throws -> LicenseState {
        try await told { calls in try await calls.startTrial() }
    }

    /// Borrows the floating seat of this device for so many seconds without a network, which may be less. ``deactivate()`` gives it back
    /// before its end, and without a network the text of ``release()``.
    ///
    /// ```swift
    /// let state = try await client.borrow(14 * 86_400)
    /// ```
    ///
    /// - Throws: ``Problem`` when there is no license, the server lends no seat, or there is no answer.
    @discardableResult
    public func borrow(_ seconds: TimeInterval) async throws -> LicenseState {
        try await told { calls in try await calls.borrow(seconds) }
    }

    /// Asks for a license file, the first or the next one, with a license key that a person has typed. The result is to be carried to the
    /// vendor.
    ///
    /// ```swift
    /// let request = try await client.createOfflineRequest(typed)
    /// print("send this to the vendor:\n\(request.text)")
    /// ```
    ///
    /// - Throws: ``StorageFailed`` when the storage cannot be written.
    public func createOfflineRequest(_ licenseKey: String) async throws -> CarriedText {
        try await inTurn { calls in try calls.createRequest(licenseKey) }
    }

    /// Takes a text that was carried here, as it was pasted or read from a file: the answer to the last request, or the list of withdrawn
    /// files.
    ///
    /// ```swift
    /// try await client.importLicense(String(contentsOf: file, encoding: .utf8))
    /// ```
    ///
    /// - Throws: ``Problem`` when it is not for this device, or not newer than what it has.
    @discardableResult
    public func importLicense(_ text: String) async throws -> LicenseState {
        try await told { calls in try await calls.importText(text) }
    }

    /// Gives the license file and its seat back: the device stops using them, and the text frees the seat at the vendor. Nil without a
    /// file; the same text again for a file that was given back before.
    ///
    /// ```swift
    /// if let released = try await client.release() {
    ///     print("send this to the vendor:\n\(released.text)")
    /// }
    /// ```
    ///
    /// - Throws: ``StorageFailed`` when the storage cannot be written.
    public func release() async throws -> CarriedText? {
        try await inTurn { calls in try calls.release() }
    }

    /// Gives a floating seat back for others to use; the license stays stored, and the next validate takes a seat again. Call it when the
    /// app ends. A seat of another kind is kept.
    ///
    /// ```swift
    /// _ = try? await client.close()
    /// ```
    ///
    /// - Throws: ``Problem`` when there is no answer. The seat runs out by itself then.
    @discardableResult
    public func close() async throws -> LicenseState {
        try await told { calls in try await calls.giveSeatBack() }
    }

    /// Call it when the user comes back from the page of a purchase: it validates every 3 seconds for half a minute, until what the
    /// license grants is another than before, and answers whether it is. It stops for no problem.
    ///
    /// ```swift
    /// if await client.refreshAfterPurchase() { print("Thank you") }
    /// ```
    public func refreshAfterPurchase() async -> Bool {
        let before = LicenseClient.granted(state)
        _ = try? await validate()
        var left = LicenseClient.purchasePauses
        while left > 0 && LicenseClient.granted(state) == before && !Task.isCancelled {
            left -= 1
            await keeper.options.clock.pause(LicenseClient.purchasePause)
            _ = try? await validate()
        }
        return LicenseClient.granted(state) != before
    }

    // MARK: Going on

    /// In how many seconds the app should validate next, for one that uses neither ``run()`` nor ``start()``.
    public nonisolated var untilNextValidation: TimeInterval { schedule.left }

    /// Loads, validates whenever it is time to, and tells when a state ends by itself, until its task is canceled.
    ///
    /// ```swift
    /// .task { await client.run() }
    /// ```
    public func run() async {
        keeper.beginKeeping()
        await load()
        while !Task.isCancelled {
            await SystemClock.sleep(await goOn())
        }
        keeper.endKeeping()
    }

    /// Starts a task that does what ``run()`` does, until ``stop()`` is called or nothing holds the client any more. Once is enough.
    ///
    /// ```swift
    /// await client.start()
    /// ```
    public func start() {
        guard running == nil else { return }
        let keeper = self.keeper
        running = Task { [weak self] in
            keeper.beginKeeping()
            _ = await self?.load()
            while !Task.isCancelled, let pause = await self?.goOn() {
                await SystemClock.sleep(pause)
            }
            keeper.endKeeping()
        }
    }

    /// Stops what ``start()`` has started. A request that is under way still ends by itself.
    public func stop() {
        running?.cancel()
        running = nil
    }

    /// Validates if it is time to. How many seconds to wait until the next look, at most a minute, which also notes the time of the clock.
    private func goOn() async -> TimeInterval {
        let options = keeper.options
        let hasServer = options.baseURL != nil || options.relays != nil
        if hasServer && schedule.left == 0 && !Task.isCancelled {
            // The state tells what it has led to, and the next one is due after a pause.
            _ = try? await validate()
        }
        var pause: TimeInterval = 60
        if hasServer {
            pause = min(pause, schedule.left)
        }
        if let end = keeper.keep().status.until {
            pause = min(pause, Double(end) - Double(options.now) + 1)
        }
        return max(pause, 1)
    }

    private func validateAlone() async throws -> LicenseState {
        defer { validating = nil }
        do {
            let state = try await told { calls in try await calls.validate() }
            schedule.note(nil, state)
            return state
        } catch {
            schedule.note(Operations.problem(error), keeper.state)
            throw error
        }
    }

    private func told(_ step: @Sendable (Operations) async throws -> Void) async throws -> LicenseState {
        try await inTurn { calls -> LicenseState in
            try await step(calls)
            return calls.keeper.state
        }
    }

    /// Runs one step after another, so that at most one request is under way, each with the device as it is now.
    private func inTurn<Outcome: Sendable>(
        _ step: @Sendable (Operations) async throws -> Outcome
    ) async rethrows -> Outcome {
        await takeTurn()
        defer { endTurn() }
        await keeper.identify()
        return try await step(calls)
    }

    private func takeTurn() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            waiting.append(turn)
        }
    }

    private func endTurn() {
        if waiting.isEmpty {
            isBusy = false
        } else {
            waiting.removeFirst().resume()
        }
    }

    /// What a purchase changes: whether there is a license, what it grants, and until when.
    private static func granted(_ state: LicenseState) -> Granted? {
        state.grant.map { grant in
            Granted(
                isActive: state.status.isActive,
                entitlements: grant.entitlements,
                licenseExpiresAt: grant.licenseExpiresAt
            )
        }
    }

    private struct Granted: Equatable {
        let isActive: Bool
        let entitlements: Entitlements
        let licenseExpiresAt: Int64?
    }
}
