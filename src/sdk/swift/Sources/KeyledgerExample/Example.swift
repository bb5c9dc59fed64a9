import Foundation
import KeyledgerClient

/// An app with a license: `swift run KeyledgerExample ACME-7KQ2M-…` activates it.
@main
struct Example {
    static func main() async throws {
        let set = ProcessInfo.processInfo.environment
        let place = try Place(tenantID: set["KEYLEDGER_TENANT"] ?? "", productID: set["KEYLEDGER_PRODUCT"] ?? "")
        let file = URL(fileURLWithPath: "keyledger-example/license.json")
        var options = ClientOptions(place: place, storage: FileStorage(file))
        options.baseURL = set["KEYLEDGER_URL"].flatMap { address in URL(string: address) }
        options.sdkKey = set["KEYLEDGER_SDK_KEY"]
        options.appVersion = "1.4.0"
        let client = try LicenseClient(options)
        let subscription = client.onNotice { notice in print(notice) }
        defer { withExtendedLifetime(subscription) {} }
        let stored = await client.load()
        print(title(stored))
        do {
            if CommandLine.arguments.count > 1 {
                try await client.activate(CommandLine.arguments[1])
            } else {
                try await client.validate()
            }
        } catch let problem as Problem {
            print(problem)
        }
        print(title(client.state))
        let hasExport = client.has("export")
        print("export: \(hasExport)")
    }

    static func title(_ state: LicenseState) -> String {
        switch state.status {
        case .licensed(let grant), .fallback(let grant):
            return "licensed, until \(grant.untilDate) without a network"
        case .offline(_, let grant):
            return "offline: connect before \(grant.untilDate)"
        case .trial(let until):
            return "the trial ends at \(Date(timeIntervalSince1970: Double(until)))"
        case .unlicensed, .free:
            return "enter a license key"
        case .starting, .expired, .revoked, .notCovered, .anotherDevice:
            return state.description
        }
    }
}
