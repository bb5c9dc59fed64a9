import Foundation

/// Gives seats back, and borrows them.
extension Operations {
    private static let noLicense = Problem(.noLicense, "there is no license on this device")

    /// Gives the seat back, and forgets the license. A borrowed seat is given back with the device's signature.
    func deactivate() async throws {
        let known = keeper.load()
        let license = known.license
        var hasFile = false
        if let file = known.usableFile {
            let isOfLicense = license.map { license in license.instanceID.isExactly(file.instanceID) } ?? true
            hasFile = isOfLicense && options.now <= file.expiresAt
        }
        if hasFile && license?.fence == nil {
            throw Problem(.hasFile, "the device has a license file; give it back with release")
        }
        guard let license else { throw Operations.noLicense }
        var body = Operations.seat(of: license)
        if hasFile {
            // When the storage fails, the seat is given back without the signature, and the server answers what is missing.
            let released = try? release()
            body.set("release", released.map { released in Json.text(released.text) })
        }
        try await sendLeaving(license, body, attempts: 3)
        keeper.change { known, _ in Take.leave(&known, license.instanceID) }
    }

    /// Gives a floating seat back, so that others have it at once; the license stays. What does not reach the server runs out by itself.
    func giveSeatBack() async throws {
        let known = keeper.load()
        guard let license = known.license, license.fence != nil else { return }
        if let file = known.usableFile, file.instanceID.isExactly(license.instanceID) { return }
        // Before it is sent: a seat that may be another's must not be used here.
        keeper.change { known, _ in Take.seatBack(&known) }
        try await sendLeaving(license, Operations.seat(of: license), attempts: 1)
    }

    /// Borrows the seat of this device for a time without a network: as a license file, which the vendor's server alone gives.
    func borrow(_ seconds: TimeInterval) async throws {
        guard let license = keeper.load().license else { throw Operations.noLicense }
        let request: CarriedText
        do {
            request = try createRequest(license.key)
        } catch {
            throw Problem(.refused, StorageFailed().description)
        }
        var asked = Record()
        asked.set("borrow_seconds", .integer(Whole.of(seconds)))
        asked.set("borrow_request", .text(request.text))
        let problem = await Operations.problem {
            try await self.activate(at: self.servers.vendor, license.key, asked, attempts: 3) { body in
                guard let file = body.text("license_file") else {
                    return Problem(.refused, "the license server lends no seats; its version is too old")
                }
                return await Operations.problem { try await self.importText(file) }
            }
        }
        keeper.reached(problem == nil)
        if let problem { throw problem }
    }

    private func sendLeaving(_ license: HeldLicense, _ body: Record, attempts: Int) async throws {
        try await send(servers.that(license.relay), "deactivate", body, attempts: attempts) { answered in
            let isDeactivated = answered.status == 200 && answered.record?.flag("deactivated") == true
            return isDeactivated || Operations.hasNoSeat(answered) ? nil : Problem.of(answered)
        }
    }

    /// The seat does not exist any more, or never did. Without a reason, 422 means that it must not be freed.
    private static func hasNoSeat(_ answered: Answered) -> Bool {
        guard let body = answered.record, let error = body.text("error") else { return false }
        if answered.status == 422 { return body.has("reason") }
        return answered.status == 404 && (body.text("reason") == "not_found" || error == "instance not found")
    }
}
