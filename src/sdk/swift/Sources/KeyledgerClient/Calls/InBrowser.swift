import Foundation

/// Asks for a license that a person chooses in the vendor's portal.
extension Operations {
    /// What is waited for. The interval is seconds.
    struct Waiting: Sendable {
        let page: ActivationPage
        let deviceCode: String
        let interval: Int64
        let polls: Int64
    }

    static let givenUp = Problem(.refused, "no license was chosen in time")

    private static let call = "browser-activations"

    /// Asks for a page on which a person chooses a license.
    func askInBrowser() async throws -> Waiting {
        var body = Record()
        body.set("device_name", .text(name(of: keeper.load())))
        var found: Waiting?
        try await send(servers.vendor, Operations.call, body, attempts: 3) { answered in
            found = Operations.waiting(in: answered)
            return found == nil ? Problem.of(answered) : nil
        }
        guard let waiting = found else { throw Problem.of(nil) }
        return waiting
    }

    /// Asks once what the person has decided. The license key, or nil while they have not.
    func pollBrowser(_ deviceCode: String) async throws -> String? {
        var body = Record()
        body.set("device_code", .text(deviceCode))
        var key: String?
        try await send(servers.vendor, "\(Operations.call)/poll", body, attempts: 3) { answered in
            guard answered.status == 200, let status = answered.record?.text("status") else { return Problem.of(answered) }
            if status == "pending" { return nil }
            if status == "denied" { return Problem(.refused, "the person has chosen no license for this app") }
            if status != "chosen" { return Operations.givenUp }
            key = answered.record?.text("license_key")
            return key == nil ? Operations.givenUp : nil
        }
        return key
    }

    private static func waiting(in answered: Answered) -> Waiting? {
        guard answered.status == 200, let body = answered.record, let deviceCode = body.text("device_code"),
            let code = body.text("user_code"), let address = body.text("verification_uri_complete"),
            let interval = body.seconds("interval"), let ends = body.seconds("expires_in")
        else { return nil }
        // The app opens it, so it is an address of a page and nothing else.
        guard address.begins(with: "https://") || address.begins(with: "http://"), let url = URL(string: address) else {
            return nil
        }
        let seconds = max(1, interval)
        let page = ActivationPage(url: url, code: code)
        return Waiting(page: page, deviceCode: deviceCode, interval: seconds, polls: ends / seconds)
    }
}
