import Foundation
import KeyledgerClient

/// An app that is told what to do: a line of JSON for each step, and a line with what it has led to for each answer. The time is in the
/// steps, and pauses are over at once.
@main
struct Program {
    static func main() async throws {
        let clock = ToldClock()
        var app: App?
        while let line = readLine(strippingNewline: true) {
            let step = try JSONDecoder().decode(Step.self, from: Data(line.utf8))
            clock.set(step.now / 1000)
            if step.what == "open" {
                app = try App(step, clock)
            }
            guard let app else { throw NoStep(description: "nothing was opened") }
            let answer = try await app.answer(step)
            FileHandle.standardOutput.write(Data("\(answer)\n".utf8))
        }
    }
}

struct NoStep: Error, CustomStringConvertible {
    let description: String
}

/// What an app is told to do, and how it is set up when that is to open it.
struct Step: Decodable {
    let what: String
    let text: String?
    /// Milliseconds.
    let now: Double
    let tenantId: String
    let productId: String
    let storage: String
    let baseUrl: String?
    let sdkKey: String?
    let keys: [String: String]?
    let machineHash: String?
    let components: [String: String]?
    let appBuiltAt: Int64?
    let enforceSettings: Bool?
    let defaultTrialDays: Int?
    let deviceName: String?

    enum CodingKeys: String, CodingKey {
        case what = "do"
        case text, now, tenantId, productId, storage, baseUrl, sdkKey, keys, machineHash, components
        case appBuiltAt, enforceSettings, defaultTrialDays, deviceName
    }
}
