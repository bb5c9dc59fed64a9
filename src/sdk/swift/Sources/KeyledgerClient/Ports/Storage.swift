/// Where an app keeps what it has to remember: one text. A client uses it from one thread at a time.
public protocol Storage: Sendable {
    /// Reads it; nil when nothing was written yet.
    func read() throws -> String?

    /// Replaces it. Afterwards it is either the former text or this one, whatever happens.
    func write(_ text: String) throws
}

/// Remembers until the program ends.
///
/// ```swift
/// let storage = MemoryStorage()
/// ```
public final class MemoryStorage: Storage {
    private let text = Locked<String?>(nil)

    /// With nothing in it.
    public init() {}

    /// Reads it.
    public func read() throws -> String? {
        text.with { text in text }
    }

    /// Replaces it.
    public func write(_ text: String) throws {
        self.text.with { held in held = text }
    }
}
