/// The facts as one text, in the form of all clients. All signatures are verified again when it is read.
enum KnownText {
    private static let format: Int64 = 1

    /// The text to store.
    static func write(_ known: Known) -> String {
        var record = Record()
        record.set("format", Json.integer(format))
        record.set("installId", Json.text(known.installID))
        record.set("keys", Json.texts(known.keys))
        record.set("license", known.license.map(writeLicense))
        record.set("left", Json.texts(known.left))
        record.set("settings", known.settings.map(writeSettings))
        record.set("trial", known.trial.map(writeTrial))
        record.set("offline", known.offline.map(writeOffline))
        record.set("signedAt", Json.integer(known.signedAt))
        record.set("seen", Json.integer(known.seen))
        return JsonWriter.write(record)
    }

    /// Reads what was stored; nil when it is not usable at all. The keys that the app ships count more than stored ones.
    static func read(_ text: String, _ place: Place, _ pinned: Keys) -> Known? {
        guard let stored = JsonReader.read(text)?.asRecord, stored.safeInteger("format") == format else { return nil }
        guard let installID = stored.field("installId"), let signedAt = stored.seconds("signedAt"),
            let seen = stored.seconds("seen")
        else { return nil }
        var keys = Keys()
        for member in stored.record("keys")?.members ?? [] {
            keys[member.name] = member.value.field
        }
        for (kid, key) in pinned {
            keys[kid] = key
        }
        var known = Known(installID: installID, keys: keys)
        known.license = stored.record("license").flatMap { license in readLicense(license, place, keys) }
        known.left = (stored.list("left") ?? []).compactMap { one in one.field }
        known.settings = stored.record("settings").flatMap { settings in readSettings(settings, place, keys) }
        known.trial = stored.record("trial").flatMap(readTrial)
        known.offline = stored.record("offline").flatMap { offline in readOffline(offline, place, keys) }
        known.signedAt = signedAt
        known.seen = seen
        return known
    }

    /// The fence of the floating seat in an answer or in what was stored; nil for a seat that lasts until it is given back.
    static func fence(in seat: Json?) -> Int64? {
        seat?.asRecord?.seconds("fence")
    }

    private static func writeLicense(_ license: HeldLicense) -> Json {
        var record = Record()
        record.set("key", Json.text(license.key))
        record.set("instanceId", Json.text(license.instanceID))
        record.set("proof", license.proof?.stored)
        record.set("expiresAt", license.expiresAt.map(Json.integer))
        record.set("graceUntil", license.graceUntil.map(Json.integer))
        record.set("notCovered", license.notCovered.map { said in Json.record(said.stored) })
        record.set("seat", license.fence.map { fence in Json.record(Record([("fence", Json.integer(fence))])) })
        record.set("relay", license.relay.map(Json.text))
        if license.isAway {
            record.set("isAway", Json.flag(true))
        }
        return .record(record)
    }

    private static func writeSettings(_ settings: HeldSettings) -> Json {
        var record = Record()
        record.set("freeTierEnabled", Json.flag(settings.freeTier))
        if let trial = settings.trial {
            record.set("trialDurationDays", Json.integer(trial.days))
            record.set("signed", Json.record(trial.signed))
        }
        record.set("issuedAt", Json.integer(settings.issuedAt))
        record.set("expiresAt", Json.integer(settings.expiresAt))
        return .record(record)
    }

    private static func writeTrial(_ trial: Trial) -> Json {
        var record = Record()
        record.set("startedAt", Json.integer(trial.startedAt))
        record.set("used", Json.flag(trial.used))
        record.set("reported", Json.flag(trial.reported))
        return .record(record)
    }

    private static func writeOffline(_ offline: OfflineFacts) -> Json {
        var record = Record()
        record.set("seed", Json.text(offline.seed))
        record.set("counter", Json.integer(offline.counter))
        if let asked = offline.asked {
            var request = Record()
            request.set("nonce", Json.text(asked.nonce))
            request.set("licenseKeyHash", Json.text(asked.licenseKeyHash))
            record.set("asked", Json.record(request))
        }
        record.set("file", holding(offline.file?.token))
        record.set("withdrawn", holding(offline.withdrawn?.token))
        record.set("released", Json.integer(offline.released))
        // Clients in other languages sign the same again, and leave this member out.
        record.set("release", holding(offline.release))
        return .record(record)
    }

    private static func holding(_ token: String?) -> Json? {
        token.map { token in Json.record(Record([("token", Json.text(token))])) }
    }

    private static func readLicense(_ stored: Record, _ place: Place, _ keys: Keys) -> HeldLicense? {
        guard let key = stored.field("key"), let instanceID = stored.field("instanceId") else { return nil }
        let expected = Expected(place: place, licenseKeyHash: LicenseKey.hash(of: key), instanceID: instanceID)
        var license = HeldLicense(key: key, instanceID: instanceID, relay: stored.field("relay"))
        license.proof = try? Proof.verify(stored["proof"], expected, keys)
        license.expiresAt = stored.seconds("expiresAt")
        license.graceUntil = stored.seconds("graceUntil")
        license.notCovered = stored.record("notCovered").flatMap(NotCovered.fromStored)
        license.fence = fence(in: stored["seat"])
        license.isAway = stored.flag("isAway") ?? false
        return license
    }

    /// A trial length that was signed is taken from its signed answer, not from what stands beside it.
    private static func readSettings(_ stored: Record, _ place: Place, _ keys: Keys) -> HeldSettings? {
        guard let freeTier = stored.flag("freeTierEnabled") else { return nil }
        guard let signed = stored.record("signed") else { return HeldSettings(freeTier: freeTier, trial: nil) }
        let read = try? SignedSettings.verify(Json.record(signed), place, keys, now: 0, enforce: false)
        guard let read, var trial = read.trial else { return nil }
        // After the signature is over, an unsigned answer may have changed the free tier alone.
        if stored.safeInteger("issuedAt") == 0 {
            trial.issuedAt = 0
            trial.expiresAt = 0
            return HeldSettings(freeTier: freeTier, trial: trial)
        }
        return HeldSettings(freeTier: read.freeTier, trial: trial)
    }

    private static func readTrial(_ stored: Record) -> Trial? {
        guard let startedAt = stored.seconds("startedAt") else { return nil }
        return Trial(startedAt: startedAt, used: stored.flag("used") ?? false, reported: stored.flag("reported") ?? false)
    }

    private static func readOffline(_ stored: Record, _ place: Place, _ keys: Keys) -> OfflineFacts? {
        guard let seed = stored.text("seed"), Bytes.fromHex(seed)?.count == 32, let counter = stored.seconds("counter"),
            let released = stored.seconds("released")
        else { return nil }
        var offline = OfflineFacts(seed: seed)
        offline.counter = counter
        offline.released = released
        if let asked = stored.record("asked"), let nonce = asked.field("nonce"), let hash = asked.field("licenseKeyHash") {
            offline.asked = Asked(nonce: nonce, licenseKeyHash: hash)
        }
        if let token = Proof.token(in: stored["file"]), let file = try? Lease.read(token, place, keys), file.file != nil {
            offline.file = file
        }
        offline.release = Proof.token(in: stored["release"])
        offline.withdrawn = Proof.token(in: stored["withdrawn"]).flatMap { token in Withdrawn.read(token, place, keys) }
        return offline
    }
}
