import Foundation

/// When to validate next. All lengths are seconds.
final class Schedule: Sendable {
    private struct Next: Sendable {
        var due: TimeInterval = 0
        var failures = 0
    }

    private static let year: TimeInterval = 365 * 86_400

    private let options: ClientOptions
    private let next = Locked(Next())

    init(_ options: ClientOptions) {
        self.options = options
    }

    /// How long it is until then; nothing at the start and when it is overdue.
    var left: TimeInterval {
        let due = next.with { next in next.due }
        return max(0, due - options.clock.elapsed)
    }

    /// Notes what a validate has led to.
    func note(_ problem: Problem?, _ state: LicenseState) {
        let left = state.grant.map { grant in Double(grant.until) - Double(options.now) }
        let elapsed = options.clock.elapsed
        let every = options.refreshEvery
        next.with { next -> Void in
            let wait: TimeInterval
            // The server that does not cover the build will not cover it in a minute.
            if let problem, problem.code != .buildNotCovered {
                wait = Schedule.pause(after: problem, next.failures, left, Schedule.random())
                next.failures += 1
            } else {
                next.failures = 0
                wait = Schedule.pause(every, left, Schedule.random())
            }
            next.due = elapsed + min(wait, Schedule.year)
        }
    }

    static func pause(_ every: TimeInterval, _ left: TimeInterval?, _ random: Double) -> TimeInterval {
        let wait = left.map { left in min(every, left / 2) } ?? every
        return max(wait, 30) * (0.9 + 0.2 * random)
    }

    static func pause(after problem: Problem, _ failures: Int, _ left: TimeInterval?, _ random: Double) -> TimeInterval {
        let retryAfter = problem.retryAfter ?? 0
        // Who waits for a floating seat comes back when the next one ends.
        if problem.code == .seatLimitReached && retryAfter > 0 { return retryAfter * (1 + 0.2 * random) }
        // A lease that is nearly over, as one of a floating seat soon is, gets some more attempts before its end.
        let most = left.map { left in max(left / 4, 5) } ?? Double.infinity
        return retryAfter + min(most, 1 + jitter(failures, 60, 3600, random))
    }

    /// Anything between 0 and a bound that doubles with each attempt.
    static func jitter(
        _ attempt: Int, _ base: TimeInterval, _ most: TimeInterval, _ random: Double = Schedule.random()
    ) -> TimeInterval {
        var bound = base
        for _ in 0..<min(attempt, 64) {
            bound *= 2
        }
        return random * min(most, bound)
    }

    /// Anything from 0 to below 1.
    static func random() -> Double {
        Double.random(in: 0..<1)
    }
}
