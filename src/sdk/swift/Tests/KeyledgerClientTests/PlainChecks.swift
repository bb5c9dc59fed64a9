@testable import KeyledgerClient

/// The vectors of what is not signed.
enum PlainChecks {
    static func licenseKey(_ one: Record) -> Compared {
        let typed = one.needed("typed")
        var found = Record()
        found.set("normalized", .text(LicenseKey.normalized(typed)))
        found.set("hash", .text(LicenseKey.hash(of: typed)))
        found.set("valid", .flag(LicenseKey.looksMinted(typed)))
        return Compared(found: .record(found), expected: one.picked(["normalized", "hash", "valid"]))
    }

    static func sharedValue(_ one: Record) -> Compared {
        let found = SharedValues.isShared(one.needed("value"))
        return Compared(found: .flag(found), expected: one["shared"] ?? .null)
    }

    static func reading(_ one: Record) -> Compared {
        var reading = Reading()
        reading.machine = (one.list("machine") ?? []).map { value in value.asText }
        for member in one.record("components")?.members ?? [] {
            reading.components.append(Reading.Component(name: member.name, value: member.value.asText))
        }
        var found = Record()
        if let place = one.place {
            let identity = reading.identity(in: place)
            found.set("machineHash", identity.machineHash.map(Json.text) ?? Json.null)
            found.set("device", Json.texts(identity.components))
        }
        return Compared(found: .record(found), expected: one.picked(["machineHash", "device"]))
    }

    static func answer(_ all: Record, _ one: Record) -> Compared {
        var answered: Answered?
        if let status = one.seconds("status") {
            let pause = one.text("retryAfter").flatMap { header in Times.retryAfterMs(header, nowMs: all.now * 1000) }
            answered = Answered(status: Int(status), body: one["body"], retryAfterMs: pause)
        }
        let problem = Problem.of(answered)
        var found = Record()
        found.set("code", .text(problem.code.rawValue))
        found.set("retryAfterMs", problem.retryAfter.map { pause in Json.number((pause * 1000).rounded()) })
        if let updatesUntil = problem.updatesUntil {
            let said = NotCovered(updatesUntil: updatesUntil, newestRelease: problem.newestRelease)
            found.set("notCovered", .record(said.stored))
        }
        found.set("waiting", problem.waiting.map(Json.number))
        return Compared(found: .record(found), expected: one.picked(["code", "retryAfterMs", "notCovered", "waiting"]))
    }

    static func notice(_ all: Record, _ one: Record) -> Compared {
        guard let before = look(one.record("before")), let after = look(one.record("after")) else {
            return Compared(found: .null, expected: one["notices"] ?? .list([]))
        }
        let days = Int(all.seconds("expiringDays") ?? 0)
        let found = NoticesOf.looks(before, after, expiringDays: days).map { notice in Json.record(notice.json) }
        return Compared(found: .list(found), expected: one["notices"] ?? .null)
    }

    private static func look(_ record: Record?) -> Look? {
        guard let record, let state = record.record("state"), let at = record.seconds("at") else { return nil }
        guard let status = StateReader.status(state) else { return nil }
        let read = LicenseState(status: status, clockSetBack: state.flag("clockSetBack") ?? false)
        return Look(state: read, at: at)
    }
}
