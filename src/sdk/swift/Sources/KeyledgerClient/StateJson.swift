/// A state in the words of all clients, which the vectors compare.
enum StateJson {
    /// The state as an object.
    static func of(_ state: LicenseState) -> Record {
        var json = Record()
        switch state.status {
        case .starting:
            json.set("status", Json.text("starting"))
        case .unlicensed(let trialDays):
            json.set("status", Json.text("unlicensed"))
            json.set("trialDays", trialDays.map(Json.integer))
        case .licensed(let grant):
            json.set("status", Json.text("licensed"))
            add(grant, to: &json)
        case .fallback(let grant):
            json.set("status", Json.text("fallback"))
            add(grant, to: &json)
        case .offline(let license, let grant):
            json.set("status", Json.text("offline"))
            json.set("license", Json.text(license.rawValue))
            add(grant, to: &json)
        case .trial(let until):
            json.set("status", Json.text("trial"))
            json.set("until", Json.integer(until))
        case .free(let trialDays):
            json.set("status", Json.text("free"))
            json.set("trialDays", trialDays.map(Json.integer))
        case .expired(let ended, let at, let freeTier):
            json.set("status", Json.text("expired"))
            add(ended, to: &json)
            json.set("at", Json.integer(at))
            json.set("freeTier", Json.flag(freeTier))
        case .revoked(let reason, let at, let freeTier):
            json.set("status", Json.text("revoked"))
            json.set("reason", Json.text(reason.rawValue))
            json.set("at", Json.integer(at))
            json.set("freeTier", Json.flag(freeTier))
        case .notCovered(let updatesUntil, let newestRelease, let freeTier):
            json.set("status", Json.text("not_covered"))
            json.set("updatesUntil", Json.integer(updatesUntil))
            json.set("newestRelease", newestRelease.map(release))
            json.set("freeTier", Json.flag(freeTier))
        case .anotherDevice(let freeTier):
            json.set("status", Json.text("another_device"))
            json.set("freeTier", Json.flag(freeTier))
        }
        json.set("clockSetBack", Json.flag(state.clockSetBack))
        return json
    }

    /// A release as an object.
    static func release(_ release: Release) -> Json {
        .record(
            Record([
                ("version", Json.text(release.version)),
                ("builtAt", Json.integer(release.builtAt)),
                ("url", orNull(release.url)),
            ]))
    }

    private static func add(_ grant: Grant, to json: inout Record) {
        json.set("by", Json.text(grant.by.rawValue))
        json.set("until", Json.integer(grant.until))
        json.add(entitlements(grant.entitlements))
        json.set("licenseExpiresAt", grant.licenseExpiresAt.map(Json.integer) ?? Json.null)
        if let holder = grant.holder {
            json.set("holder", Json.record(Record([("name", orNull(holder.name)), ("email", orNull(holder.email))])))
        }
        json.set("graceUntil", grant.graceUntil.map(Json.integer))
    }

    private static func add(_ ended: LicenseState.ExpiredOf, to json: inout Record) {
        switch ended {
        case .lease(let allowed):
            json.set("allowed", Json.record(entitlements(allowed)))
            json.set("of", Json.text("lease"))
        case .file(let allowed):
            json.set("allowed", Json.record(entitlements(allowed)))
            json.set("of", Json.text("file"))
        case .license:
            json.set("of", Json.text("license"))
        case .trial:
            json.set("of", Json.text("trial"))
        }
    }

    private static func entitlements(_ entitlements: Entitlements) -> Record {
        var values = Record()
        for entry in entitlements.entries {
            switch entry.value {
            case .granted: break
            case .number(let number): values.set(entry.name, .number(number))
            case .text(let text): values.set(entry.name, .text(text))
            }
        }
        return Record([("entitlements", Json.texts(entitlements.names)), ("values", Json.record(values))])
    }

    private static func orNull(_ text: String?) -> Json {
        text.map(Json.text) ?? Json.null
    }
}
