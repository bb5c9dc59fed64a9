import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends with `URLSession`: with the certificates and the proxies of the system, without cookies and caches. On Linux the proxies are
/// those of `https_proxy`, `http_proxy` and `no_proxy`.
public struct URLSessionTransport: Transport, @unchecked Sendable {
    private let configuration: URLSessionConfiguration

    /// Sends with the proxies of the system.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        self.configuration = configuration
    }

    /// Sends as the app has configured it, for example over a proxy of its own. The configuration must not be changed afterwards.
    public init(configuration: URLSessionConfiguration) {
        self.configuration = configuration
    }

    /// Sends a request once.
    public func send(_ request: TransportRequest) async throws -> TransportAnswer {
        let exchange = Exchange()
        let timer = Task {
            await SystemClock.sleep(request.timeout)
            if !Task.isCancelled {
                exchange.end(.failure(URLError(.timedOut)))
            }
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<TransportAnswer, Error>) in
                exchange.begin(sent(request), configuration, waiting)
            }
        } onCancel: {
            exchange.end(.failure(CancellationError()))
        }
    }

    private func sent(_ request: TransportRequest) -> URLRequest {
        var sent = URLRequest(url: request.url)
        sent.timeoutInterval = max(request.timeout, 1)
        for (name, value) in request.headers {
            sent.setValue(value, forHTTPHeaderField: name)
        }
        if let body = request.body {
            sent.httpMethod = "POST"
            sent.httpBody = Data(body.utf8)
        }
        return sent
    }
}

/// One request and its answer. It ends once: with the answer, an error, the end of its time, or when its task is canceled.
private final class Exchange: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    /// What is longer comes from something else than the server, and is not read to its end.
    private static let most = 262_144

    private struct Held {
        var waiting: CheckedContinuation<TransportAnswer, Error>?
        var session: URLSession?
        var task: URLSessionDataTask?
        var bytes = Data()
        var isOver = false
    }

    private let held = Locked(Held())

    func begin(
        _ request: URLRequest, _ configuration: URLSessionConfiguration, _ waiting: CheckedContinuation<TransportAnswer, Error>
    ) {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let task = session.dataTask(with: request)
        let isOver = held.with { held -> Bool in
            if held.isOver { return true }
            held.waiting = waiting
            held.session = session
            held.task = task
            return false
        }
        if isOver {
            task.cancel()
            session.finishTasksAndInvalidate()
            waiting.resume(throwing: CancellationError())
        } else {
            task.resume()
        }
    }

    func end(_ result: Result<TransportAnswer, Error>) {
        let ended = held.with { held -> Held in
            let ended = held
            held.isOver = true
            held.waiting = nil
            held.session = nil
            held.task = nil
            return ended
        }
        ended.waiting?.resume(with: result)
        ended.task?.cancel()
        // A session holds its delegate until then.
        ended.session?.finishTasksAndInvalidate()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let count = held.with { held -> Int in
            held.bytes.append(data)
            return held.bytes.count
        }
        if count >= Exchange.most {
            end(answer(dataTask.response))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error {
            end(.failure(error))
        } else {
            end(answer(task.response))
        }
    }

    private func answer(_ response: URLResponse?) -> Result<TransportAnswer, Error> {
        guard let response = response as? HTTPURLResponse else { return .failure(URLError(.badServerResponse)) }
        let bytes = held.with { held in held.bytes }
        let answer = TransportAnswer(
            status: response.statusCode,
            body: String(decoding: bytes.prefix(Exchange.most), as: UTF8.self),
            retryAfter: response.value(forHTTPHeaderField: "retry-after")
        )
        return .success(answer)
    }
}
