/// Ends the calls of a listener when nothing holds it any more.
public final class NoticeSubscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}
