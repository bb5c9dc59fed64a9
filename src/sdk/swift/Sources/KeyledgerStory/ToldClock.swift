import Foundation
import KeyledgerClient

/// A clock that shows what it is told.
final class ToldClock: ClientClock, @unchecked Sendable {
    private let lock = NSLock()
    private var seconds: TimeInterval = 0

    func set(_ seconds: TimeInterval) {
        lock.lock()
        self.seconds = seconds
        lock.unlock()
    }

    var now: Date { Date(timeIntervalSince1970: elapsed) }

    var elapsed: TimeInterval {
        lock.lock()
        defer { lock.unlock() }
        return seconds
    }

    func pause(_ seconds: TimeInterval) async {}
}

/// The notices since they were last asked for.
final class Noticed: @unchecked Sendable {
    private let lock = NSLock()
    private var notices: [Notice] = []

    func add(_ notice: Notice) {
        lock.lock()
        notices.append(notice)
        lock.unlock()
    }

    func taken() -> [Notice] {
        lock.lock()
        defer { lock.unlock() }
        let taken = notices
        notices = []
        return taken
    }
}
