@testable import KeyledgerClient

/// Reads a state as the vectors have it. Apps need no such reader.
enum StateReader {
    static func status(_ json: Record) -> LicenseState.Status? {
        let freeTier = json.flag("freeTier") ?? false
        let at = json.seconds("at") ?? 0
        switch json.needed("status") {
        case "starting": return .starting
        case "unlicensed": return .unlicensed(trialDays: json.seconds("trialDays"))
        case "licensed": return grant(json).map(LicenseState.Status.licensed)
        case "fallback": return grant(json).map(LicenseState.Status.fallback)
        case "offline":
            guard let granted = grant(json), let kind = LicenseState.LicenseKind(rawValue: json.needed("license")) else {
                return nil
            }
            return .offline(license: kind, grant: granted)
        case "trial": return .trial(until: json.seconds("until") ?? 0)
        case "free": return .free(trialDays: json.seconds("trialDays"))
        case "expired":
            guard let what = ended(json) else { return nil }
            return .expired(of: what, at: at, freeTier: freeTier)
        case "revoked":
            guard let reason = LicenseState.RevokedReason(rawValue: json.needed("reason")) else { return nil }
            return .revoked(reason: reason, at: at, freeTier: freeTier)
        case "not_covered":
            let until = json.seconds("updatesUntil") ?? 0
            return .notCovered(updatesUntil: until, newestRelease: nil, freeTier: freeTier)
        case "another_device": return .anotherDevice(freeTier: freeTier)
        default: return nil
        }
    }

    private static func grant(_ json: Record) -> Grant? {
        guard let source = Grant.Source(rawValue: json.needed("by")), let until = json.seconds("until") else { return nil }
        return Grant(
            by: source,
            until: until,
            entitlements: entitlements(json),
            licenseExpiresAt: json.seconds("licenseExpiresAt"),
            holder: nil,
            graceUntil: json.seconds("graceUntil")
        )
    }

    private static func ended(_ json: Record) -> LicenseState.ExpiredOf? {
        let allowed = entitlements(json.record("allowed") ?? Record())
        switch json.needed("of") {
        case "lease": return .lease(allowed)
        case "file": return .file(allowed)
        case "license": return .license
        case "trial": return .trial
        default: return nil
        }
    }

    private static func entitlements(_ json: Record) -> Entitlements {
        let values = json.record("values") ?? Record()
        var members: [Record.Member] = []
        for name in (json.list("entitlements") ?? []).compactMap({ one in one.asText }) {
            members.append(Record.Member(name: name, value: values[name] ?? .flag(true)))
        }
        return Entitlements.granted(members)
    }
}
