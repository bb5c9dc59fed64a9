import Foundation
import KeyledgerClient

/// An app with a license.
struct App {
    private let client: LicenseClient
    private let noticed: Noticed
    private let subscription: NoticeSubscription

    init(_ step: Step, _ clock: ToldClock) throws {
        let place = try Place(tenantID: step.tenantId, productID: step.productId)
        var options = ClientOptions(place: place, storage: FileStorage(URL(fileURLWithPath: step.storage)))
        options.baseURL = step.baseUrl.flatMap { address in URL(string: address) }
        options.sdkKey = step.sdkKey
        options.keys = step.keys ?? [:]
        options.appBuiltAt = step.appBuiltAt
        options.enforceSettings = step.enforceSettings ?? false
        options.defaultTrialDays = step.defaultTrialDays
        options.deviceName = step.deviceName
        options.clock = clock
        options.onStorageError = { error in
            FileHandle.standardError.write(Data("\(error)\n".utf8))
        }
        let identity = DeviceIdentity(machineHash: step.machineHash, components: step.components ?? [:])
        options.identity = { _ in identity }
        let noticed = Noticed()
        let client = try LicenseClient(options)
        self.client = client
        self.noticed = noticed
        self.subscription = client.onNotice { notice in noticed.add(notice) }
    }

    /// Does a step. What it has led to, as a line of JSON.
    func answer(_ step: Step) async throws -> String {
        var members = try await done(step.what, step.text ?? "")
        members.append("\"state\":\(client.state)")
        let notices = noticed.taken().map { notice in notice.description }
        members.append("\"notices\":[\(notices.joined(separator: ","))]")
        return "{\(members.joined(separator: ","))}"
    }

    private func done(_ what: String, _ text: String) async throws -> [String] {
        switch what {
        case "open":
            let before = client.state.description
            await client.load()
            return ["\"before\":\(before)"]
        case "look":
            _ = client.state
            await client.load()
            return []
        case "has":
            return ["\"granted\":\(client.has(text))"]
        case "value":
            return try value(text)
        case "request":
            let request = try await client.createOfflineRequest(text)
            return [try member("text", request.text)]
        case "release":
            guard let released = try await client.release() else { return [] }
            return [try member("text", released.text)]
        case "refreshAfterPurchase":
            let isChanged = await client.refreshAfterPurchase()
            return ["\"changed\":\(isChanged)"]
        default:
            return try await called(what, text)
        }
    }

    private func called(_ what: String, _ text: String) async throws -> [String] {
        do {
            switch what {
            case "activate": try await client.activate(text)
            case "activateInBrowser": try await client.activateInBrowser { _ in }
            case "validate": try await client.validate()
            case "startTrial": try await client.startTrial()
            case "deactivate": try await client.deactivate()
            case "importLicense": try await client.importLicense(text)
            case "borrow": try await client.borrow(Double(text) ?? 0)
            case "close": try await client.close()
            default: throw NoStep(description: "\(what) is no step")
            }
            return []
        } catch let problem as Problem {
            return [try member("problem", problem.code.rawValue)]
        }
    }

    private func value(_ name: String) throws -> [String] {
        guard let value = client.value(name) else { return [] }
        switch value {
        case .granted: return ["\"value\":true"]
        case .number(let number): return ["\"value\":\(number)"]
        case .text(let text): return [try member("value", text)]
        }
    }

    /// A member with a text, which is encoded within a list: not every Foundation encodes it alone.
    private func member(_ name: String, _ text: String) throws -> String {
        let list = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
        return "\"\(name)\":\(list.dropFirst().dropLast())"
    }
}
