import Foundation

/// The time and its pauses, which tests replace.
public protocol ClientClock: Sendable {
    /// The clock of the device, which its user can set.
    var now: Date { get }

    /// The seconds since some fixed moment, which nobody can set back.
    var elapsed: TimeInterval { get }

    /// Waits so many seconds before a request is sent again.
    func pause(_ seconds: TimeInterval) async
}

/// The clock of the system.
struct SystemClock: ClientClock {
    var now: Date { Date() }

    var elapsed: TimeInterval {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }

    func pause(_ seconds: TimeInterval) async {
        await SystemClock.sleep(seconds)
    }

    /// Waits, or ends at once when its task is canceled.
    static func sleep(_ seconds: TimeInterval) async {
        let most = 1_000_000_000.0
        let length = seconds > 0 ? min(seconds, most) : 0
        try? await Task.sleep(nanoseconds: UInt64(length * 1_000_000_000))
    }
}
