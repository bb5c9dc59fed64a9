@testable import KeyledgerClient

/// Plays a story of the vectors: from an empty storage, the state after each step.
struct Story {
    private let all: Record
    private let story: Record
    private let place: Place
    private var known: Known

    private init(_ all: Record, _ story: Record, _ place: Place) {
        self.all = all
        self.story = story
        self.place = place
        self.known = Known(installID: "install", keys: all.keys)
    }

    static func check(_ all: Record, _ story: Record, _ place: Place) -> Compared {
        var told = Story(all, story, place)
        var found: [Json] = []
        var expected: [Json] = []
        for step in story.cases("steps") {
            found.append(told.happens(step))
            expected.append(step.picked(["as", "state"]))
        }
        return Compared(found: .list(found), expected: .list(expected))
    }

    private mutating func happens(_ step: Record) -> Json {
        let at = step.seconds("at") ?? 0
        let before = known
        var told = Record()
        switch Doubt.judge({ try taken(step, at) }) {
        case .success(let age):
            told.set("as", age.map { age in Json.text(age.rawValue) })
        case .failure(let doubt):
            known = before
            told.set("as", .text(doubt.rawValue))
        }
        known.notice(at)
        let around = Circumstances(
            failing: step.flag("failing") ?? false,
            device: story.device,
            builtAt: story.seconds("builtAt"),
            defaultTrialDays: story.seconds("defaultTrialDays")
        )
        told.set("state", .record(StateJson.of(StateOf.state(known, now: at, around))))
        return .record(told)
    }

    private mutating func taken(_ step: Record, _ at: Int64) throws -> Age? {
        let answer = step["answer"]
        let key = step.text("licenseKey") ?? all.needed("licenseKey")
        let instanceID = step.text("instanceId") ?? all.needed("instanceId")
        switch step.needed("step") {
        case "wait":
            break
        case "restart":
            guard let read = KnownText.read(KnownText.write(known), place, all.keys) else { throw Doubt.malformed }
            known = read
        case "take_proof":
            return try Take.proof(&known, answer, HeldLicense(key: key, instanceID: instanceID), place, now: at)
        case "take_settings":
            let enforce = story.flag("enforceSettings") ?? false
            return try Take.settings(&known, answer, place, now: at, enforce: enforce)
        case "start_trial":
            Take.beginTrial(&known, now: at)
        case "take_trial":
            Take.trial(&known, answer)
        case "take_not_covered":
            Take.buildNotCovered(&known, answer)
        case "ask_for_file":
            makeOffline()
            known.offline?.asked = Asked(nonce: step.needed("nonce"), licenseKeyHash: LicenseKey.hash(of: key))
        case "take_file":
            makeOffline()
            return try Take.carried(&known, step.needed("token"), place, story.device, now: at)
        case "leave":
            Take.leave(&known, instanceID)
        case "give_seat_back":
            Take.seatBack(&known)
        default:
            throw Doubt.malformed
        }
        return nil
    }

    private mutating func makeOffline() {
        known.offline = known.offline ?? OfflineFacts(seed: all.needed("seed"))
    }
}
