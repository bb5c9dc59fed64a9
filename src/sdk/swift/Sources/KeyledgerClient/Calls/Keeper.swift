import Foundation

/// Holds the facts, stores them, and says which state follows. All of it may be called from any thread.
final class Keeper: Sendable {
    /// How far the clock goes on before its time is stored.
    private static let noticeSeconds: Int64 = 60

    private struct Held: Sendable {
        var known: Known?
        var storedSeen: Int64 = 0
        var isFailing = false
        var device: SignedMachine?
        /// How many tasks keep the time stored.
        var keeping = 0
        var told: LicenseState?
        var readers: [Int: AsyncStream<LicenseState>.Continuation] = [:]
        var last: Look?
        var listeners: [Int: @Sendable (Notice) -> Void] = [:]
        var toTell: [Notice] = []
        var isTelling = false
        var nextID = 0

        mutating func newID() -> Int {
            nextID += 1
            return nextID
        }
    }

    let options: ClientOptions
    private let held = Locked(Held())
    /// What the storage is known to hold; another text is of another process. Whoever has it may write.
    private let stored = Locked<String?>(nil)

    init(_ options: ClientOptions) {
        self.options = options
    }

    /// The present state. It waits neither for a network nor for a write of another thread. While no task keeps the time stored, it
    /// does so, once a minute.
    var state: LicenseState {
        let present = held.with { held in self.look(&held) }
        if present.isDue && !present.isKept {
            storeIfFree()
        }
        return present.state
    }

    /// Stores the time of the clock when that is due, and tells the listeners of a state that has ended by itself.
    func keep() -> LicenseState {
        let present = held.with { held in self.look(&held) }
        if present.isDue {
            storeIfFree()
        }
        return announce()
    }

    /// Until ``endKeeping()``, ``state`` writes nothing: the caller calls ``keep()`` each minute.
    func beginKeeping() {
        held.with { held in held.keeping += 1 }
    }

    func endKeeping() {
        held.with { held in held.keeping -= 1 }
    }

    /// Reads the storage; another process may have written to it.
    @discardableResult
    func load() -> Known {
        let (known, isRead) = stored.with { stored -> (Known, Bool) in
            let text: String? = attempt { try options.storage.read() }.flatMap { text in text }
            return held.with { held -> (Known, Bool) in
                let isNew = text.map { text in !text.isExactly(stored ?? "") } ?? false
                let isRead = held.known == nil || isNew
                if isRead {
                    held.known = reloaded(text, held.known)
                    stored = text
                }
                return (held.known ?? newFacts(), isRead)
            }
        }
        if isRead {
            announce()
        }
        return known
    }

    /// Stores what a step makes of the facts; false when the storage fails.
    @discardableResult
    func change(_ step: (inout Known, Int64) -> Void) -> Bool {
        let isStored = stored.with { stored -> Bool in
            held.with { held -> Void in
                let now = options.now
                var known = held.known ?? newFacts()
                step(&known, now)
                known.notice(now)
                held.known = known
            }
            return store(&stored)
        }
        announce()
        return isStored
    }

    /// Takes what an answer or a text says. What became of it, or why it is not taken.
    func take(_ step: (inout Known, Int64) throws -> Age) -> Taken {
        var taken: Taken = .success(.stale)
        change { known, now in
            var changed = known
            taken = Doubt.judge { try step(&changed, now) }
            if case .success = taken {
                known = changed
            }
        }
        return taken
    }

    /// Notes whether the last attempt reached the server.
    func reached(_ isReached: Bool) {
        held.with { held in held.isFailing = !isReached }
        announce()
    }

    /// What the device is, as far as it has said so.
    var device: SignedMachine? {
        held.with { held in held.device }
    }

    /// Asks what the device is. While that says nothing, what was said before stays.
    func identify() async {
        let said = await options.identity(options.place)
        if let machine = said?.usable {
            held.with { held in held.device = machine }
        }
    }

    /// The present state and each new one, until the reader is gone. A reader that is slow gets the newest.
    func states() -> AsyncStream<LicenseState> {
        AsyncStream(LicenseState.self, bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = self.held.with { held -> Int in
                let id = held.newID()
                held.readers[id] = continuation
                continuation.yield(self.look(&held).state)
                return id
            }
            continuation.onTermination = { [weak self] _ in
                self?.forget(id)
            }
        }
    }

    /// Calls the listener with each notice, until ``forget(_:)`` is called with what this returns.
    func listen(_ listener: @escaping @Sendable (Notice) -> Void) -> Int {
        held.with { held -> Int in
            let id = held.newID()
            held.listeners[id] = listener
            return id
        }
    }

    /// Forgets a reader or a listener.
    func forget(_ id: Int) {
        held.with { held -> Void in
            held.readers[id] = nil
            held.listeners[id] = nil
        }
    }

    /// Tells the readers when the state has changed, also by itself, as when a lease ends, and the listeners what concerns the user. The
    /// present state.
    @discardableResult
    func announce() -> LicenseState {
        let (state, isFirst) = held.with { held -> (LicenseState, Bool) in
            let now = options.now
            let state = look(&held).state
            if held.told != state {
                held.told = state
                for reader in held.readers.values {
                    reader.yield(state)
                }
            }
            let next = Look(state: state, at: now)
            held.toTell += NoticesOf.looks(held.last ?? Look.first, next, expiringDays: options.expiringDays)
            held.last = next
            let isFirst = !held.isTelling
            held.isTelling = true
            return (state, isFirst)
        }
        if isFirst {
            tell()
        }
        return state
    }

    /// In their order, and without a lock that a listener could wait for.
    private func tell() {
        while let next = nextToTell() {
            for listener in next.listeners {
                listener(next.notice)
            }
        }
    }

    private func nextToTell() -> (notice: Notice, listeners: [@Sendable (Notice) -> Void])? {
        held.with { held -> (notice: Notice, listeners: [@Sendable (Notice) -> Void])? in
            guard !held.toTell.isEmpty else {
                held.isTelling = false
                return nil
            }
            let notice = held.toTell.removeFirst()
            var listeners: [@Sendable (Notice) -> Void] = []
            for id in held.listeners.keys.sorted() {
                if let listener = held.listeners[id] {
                    listeners.append(listener)
                }
            }
            return (notice: notice, listeners: listeners)
        }
    }

    /// The present state, and whether its time is to be stored. Otherwise a program that is ended and started again would not know the
    /// time that it has seen.
    private func look(_ held: inout Held) -> (state: LicenseState, isDue: Bool, isKept: Bool) {
        let now = options.now
        held.known?.notice(now)
        let around = Circumstances(
            failing: held.isFailing,
            device: held.device,
            builtAt: options.appBuiltAt,
            defaultTrialDays: options.defaultTrialDays.map { days in Int64(days) }
        )
        let isDue = held.known.map { known in known.seen >= held.storedSeen + Keeper.noticeSeconds } ?? false
        let state = StateOf.state(held.known, now: now, around)
        return (state: state, isDue: isDue, isKept: held.keeping > 0)
    }

    private func storeIfFree() {
        _ = stored.withIfFree { stored in store(&stored) }
    }

    /// Writes the newest facts.
    private func store(_ stored: inout String?) -> Bool {
        let written = held.with { held -> String? in
            guard let known = held.known else { return nil }
            held.storedSeen = known.seen
            return KnownText.write(known)
        }
        guard let text = written else { return true }
        if let stored, stored.isExactly(text) { return true }
        guard attempt({ try options.storage.write(text) }) != nil else { return false }
        stored = text
        return true
    }

    private func attempt<Outcome>(_ step: () throws -> Outcome) -> Outcome? {
        do {
            return try step()
        } catch {
            options.onStorageError?(error)
            return nil
        }
    }

    private func reloaded(_ text: String?, _ own: Known?) -> Known {
        guard let text, var read = KnownText.read(text, options.place, options.keys) else { return own ?? newFacts() }
        // What another process has stored, with the times that this one has seen; after a newer proof they begin anew.
        if let own, own.signedAt >= read.signedAt {
            read.seen = max(read.seen, own.seen)
        }
        return read
    }

    private func newFacts() -> Known {
        Known(installID: Bytes.randomHex(16), keys: options.keys)
    }
}
