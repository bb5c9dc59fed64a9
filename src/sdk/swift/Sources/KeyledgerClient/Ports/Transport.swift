import Foundation

/// A request to a license server. Its body holds the license key, which its description leaves out, so that none gets into a log.
public struct TransportRequest: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Where it goes.
    public let url: URL
    /// All headers to send, in lower case.
    public let headers: [String: String]
    /// JSON for a POST; nil for a GET.
    public let body: String?
    /// After how many seconds to give up, with the answer not yet read to its end.
    public let timeout: TimeInterval

    /// Its address, without its body.
    public var description: String { "TransportRequest(\(url.absoluteString))" }

    /// Its address, without its body.
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

/// What came back.
public struct TransportAnswer: Equatable, Sendable {
    /// The status of HTTP.
    public let status: Int
    /// The whole body as text. Answers of the server are shorter than 65,536 bytes; what is longer need not be read to its end.
    public let body: String
    /// The header Retry-After, if there was one.
    public let retryAfter: String?

    /// An answer of any status.
    public init(status: Int, body: String, retryAfter: String? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// Sends requests.
///
/// ```swift
/// /// A network that is not there.
/// struct NoNetwork: Transport {
///     func send(_ request: TransportRequest) async throws -> TransportAnswer {
///         throw URLError(.notConnectedToInternet)
///     }
/// }
/// ```
public protocol Transport: Sendable {
    /// Sends a request once, and follows redirects. Any error means that no answer came within the time of the request. An answer of any
    /// status is none.
    func send(_ request: TransportRequest) async throws -> TransportAnswer
}
