/// Asks for license files, takes them, and gives them back.
extension Operations {
    /// Asks for a license file. The request is stored before it is given out, so that none repeats a counter, and its answer is known
    /// after a restart.
    ///
    /// - Throws: ``StorageFailed``
    func createRequest(_ key: String) throws -> CarriedText {
        let known = keeper.load()
        let now = options.now
        let asked = Asked(nonce: Bytes.randomHex(16), licenseKeyHash: LicenseKey.hash(of: key))
        var offline = known.offlineOrNew
        // The time, so that a machine that was restored from a backup is not behind its own earlier requests.
        offline.counter = max(offline.counter + 1, now)
        offline.asked = asked
        let stored = offline
        guard keeper.change({ known, _ in known.offline = stored }) else { throw StorageFailed() }
        let machine = offline.machine(of: keeper.device)
        var device = Record()
        device.set("machine_hash", machine.hash.map(Json.text) ?? Json.null)
        device.set("components", Json.texts(machine.components))
        var claims = Record()
        claims.set("iat", .text(Times.iso(now)))
        claims.set("nonce", .text(asked.nonce))
        claims.set("counter", .integer(offline.counter))
        claims.set("license_key_hash", .text(asked.licenseKeyHash))
        claims.set("instance_name", .text(name(of: known)))
        claims.set("device", .record(device))
        return CarriedText("REQUEST", try signed("request1", offline, claims))
    }

    /// Takes a text that was carried here: the answer to the last request, or a list of withdrawn files.
    func importText(_ text: String) async throws {
        keeper.load()
        let token = Armor.token(in: text)
        let place = options.place
        let device = keeper.device
        let taken = await takeSigned { known, now in try Take.carried(&known, token, place, device, now: now) }
        if case .failure(let doubt) = taken { throw Operations.problem(of: doubt) }
    }

    /// Gives the license file and its seat back: the device stops using both before it gives the text out. Nil without a file for this
    /// machine; the same text again for one that was given back before.
    ///
    /// - Throws: ``StorageFailed``
    func release() throws -> CarriedText? {
        let known = keeper.load()
        guard let offline = known.offline, let file = offline.file, offline.isForMachine(file, keeper.device) else {
            return nil
        }
        let isUsable = offline.usable != nil
        if !isUsable, let given = offline.release, isRelease(given, of: file, offline) {
            return CarriedText("RELEASE", given)
        }
        var claims = Record()
        claims.set("iat", .text(Times.iso(options.now)))
        claims.set("instance_id", .text(file.instanceID))
        claims.set("serial", .integer(file.serial))
        claims.set("fence", file.file?.fence)
        let token = try signed("release1", offline, claims)
        let isStored = keeper.change { known, _ in
            if isUsable {
                Take.leave(&known, file.instanceID)
            }
            known.offline?.release = token
        }
        guard isStored else { throw StorageFailed() }
        return CarriedText("RELEASE", token)
    }

    /// Whether a stored token gives a file back: the user of the device can edit the storage.
    private func isRelease(_ token: String, of file: Lease, _ offline: OfflineFacts) -> Bool {
        let assertion = options.place.assertion("release1")
        guard let claims = Token.claims(ofDevice: token, assertion, seed: offline.seedBytes),
            let instanceID = claims.text("instance_id"), let serial = claims.safeInteger("serial")
        else { return false }
        return serial == file.serial && instanceID.isExactly(file.instanceID)
    }

    private func signed(_ kind: String, _ offline: OfflineFacts, _ claims: Record) throws -> String {
        let assertion = options.place.assertion(kind)
        // A seed that is none is never read from the storage.
        guard let token = Token.signedByDevice(JsonWriter.write(claims), assertion, seed: offline.seedBytes) else {
            throw StorageFailed()
        }
        return token
    }

    /// What an app is told of a text that is not taken.
    private static func problem(of doubt: Doubt) -> Problem {
        switch doubt {
        case .unknownKey: return Problem(.unknownKey, "it was signed with a key that this app does not know")
        case .badSignature: return Problem(.badSignature, "it was changed on the way, or was made for another product")
        case .anotherDevice: return Problem(.anotherDevice, "it was made for another machine")
        case .notAsked: return Problem(.notAsked, "it answers another request than the last one of this device")
        case .outdated: return Problem(.outdated, "it is older than what this device has, or was given back")
        case .notYet: return Problem(.notYet, "the clock of this machine is before it")
        case .over: return Problem(.over, "it has ended; ask for the next one")
        case .malformed, .anotherLicense, .anotherInstance, .unsigned:
            return Problem(.malformed, "this is neither a license file nor a list of withdrawn files")
        }
    }
}
