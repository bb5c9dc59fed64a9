import Foundation

/// A value that one thread at a time may use. What is done with it neither waits nor calls back.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// Waits for the value, and uses it.
    func with<Outcome>(_ step: (inout Value) throws -> Outcome) rethrows -> Outcome {
        lock.lock()
        defer { lock.unlock() }
        return try step(&value)
    }

    /// Uses the value; nil while another thread has it.
    func withIfFree<Outcome>(_ step: (inout Value) throws -> Outcome) rethrows -> Outcome? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return try step(&value)
    }
}
