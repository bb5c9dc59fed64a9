@testable import KeyledgerClient

/// The vectors of what is signed.
struct SignedChecks {
    let all: Record
    let place: Place

    func token(_ one: Record) -> Compared {
        let key = Bytes.fromHex(all.needed("publicKey")) ?? []
        var token = Token(one.needed("token"))
        if let parsed = token, !parsed.isSigned(one.needed("assertion"), key) {
            token = nil
        }
        var found = Record()
        found.set("valid", .flag(token != nil))
        if let token {
            found.set("message", .text(Bytes.text(token.message) ?? ""))
            found.set("footer", .text(Bytes.text(token.footer) ?? ""))
        }
        return Compared(found: .record(found), expected: one.picked(["valid", "message", "footer"]))
    }

    func lease(_ one: Record) -> Compared {
        judged(one) {
            guard let record = one.record("lease") else { throw Doubt.malformed }
            let lease = try Statements.readLease(record, expected, all.keys)
            if all.now > lease.expiresAt { throw Doubt.over }
        }
    }

    func lease2(_ one: Record) -> Compared {
        var granted = Record()
        let read = judged(one) {
            let lease = try Lease.verify(one.needed("token"), expected, all.device, all.keys, now: all.now)
            for entitlement in lease.entitlements {
                granted.set(entitlement.name, entitlement.value)
            }
        }
        guard let entitlements = one["entitlements"] else { return read }
        return Compared(
            found: .list([read.found, .record(granted)]),
            expected: .list([read.expected, entitlements])
        )
    }

    func licenseFile(_ one: Record) -> Compared {
        var offline = OfflineFacts(seed: String(repeating: "5", count: 64))
        offline.asked = Asked(nonce: all.needed("nonce"), licenseKeyHash: all.needed("licenseKeyHash"))
        offline.released = all.seconds("releasedSerial") ?? 0
        var known = Known(installID: "install", keys: all.keys)
        known.offline = offline
        return judged(one) {
            let age = try Take.carried(&known, one.needed("token"), place, all.device, now: all.now)
            if age != .fresh { throw Doubt.unsigned }
        }
    }

    func withdrawn(_ one: Record) -> Compared {
        let list = one.text("token").flatMap { token in Withdrawn.read(token, place, all.keys) }
        let found = list.map { list in Json.texts(list.files) } ?? Json.null
        return Compared(found: found, expected: one["files"] ?? .null)
    }

    func refusal(_ one: Record) -> Compared {
        judged(one) {
            guard let record = one.record("refusal") else { throw Doubt.malformed }
            _ = try Statements.readRefusal(record, expected, all.keys)
        }
    }

    func settings(_ one: Record) -> Compared {
        let enforce = one.flag("enforce") ?? false
        return judged(one) {
            _ = try SignedSettings.verify(one["settings"], place, all.keys, now: all.now, enforce: enforce)
        }
    }

    /// Written anew, so that the writer is checked as well. CryptoKit signs the same with another signature each time, so that what is
    /// signed is compared, and that both signatures are valid.
    func request(_ one: Record) -> Compared {
        let kind = one.needed("kind")
        let seed = Bytes.fromHex(all.needed("seed")) ?? []
        let assertion = place.assertion("\(kind.lowercased())1")
        let written = JsonReader.read(one.needed("message")).map { message in JsonWriter.write(message) } ?? ""
        let token = Token.signedByDevice(written, assertion, seed: seed) ?? ""
        let back = Armor.token(in: one.needed("text"))
        #if canImport(CryptoKit)
        let claims = Token.claims(ofDevice: token, assertion, seed: seed).map(Json.record) ?? Json.null
        let expected = Token.claims(ofDevice: one.needed("token"), assertion, seed: seed).map(Json.record) ?? Json.flag(false)
        let text = Armor.around(kind, one.needed("token"))
        return Compared(
            found: .list([claims, .text(back), .text(text)]),
            expected: .list([expected, .text(one.needed("token")), .text(one.needed("text"))])
        )
        #else
        return Compared(
            found: Json.texts([token, Armor.around(kind, token), back]),
            expected: Json.texts([one.needed("token"), one.needed("text"), token])
        )
        #endif
    }

    func key(_ one: Record) -> Compared {
        let isKey = one.text("publicKey").map { key in Keyset.isKey(key, of: one.needed("kid")) } ?? false
        return Compared(found: .flag(isKey), expected: one["valid"] ?? .null)
    }

    private var expected: Expected {
        Expected(place: place, licenseKeyHash: all.needed("licenseKeyHash"), instanceID: all.needed("instanceId"))
    }

    private func judged(_ one: Record, _ step: () throws -> Void) -> Compared {
        let found: String
        switch Doubt.judge(step) {
        case .success: found = "valid"
        case .failure(let doubt): found = doubt.rawValue
        }
        let wanted = one.flag("valid") == true ? Json.text("valid") : one["reason"] ?? Json.null
        return Compared(found: .text(found), expected: wanted)
    }
}
