/// The verified settings of a product.
struct SignedSettings: Equatable, Sendable {
    /// A trial length that was signed, with what it was signed with, to be stored and verified again.
    struct TrialLength: Equatable, Sendable {
        /// 0 means that trials are off.
        let days: Int64
        var issuedAt: Int64
        var expiresAt: Int64
        let signed: Record
    }

    /// Fields that only signed settings have.
    private static let signedWith = ["kid", "issued_at", "expires_at", "signature"]

    let freeTier: Bool
    /// Nil when a length was never configured.
    let trial: TrialLength?

    /// Verifies the settings in an answer. A trial length must be signed; unsigned settings only carry the free tier, and with
    /// `enforce` not even that.
    static func verify(_ answer: Json?, _ place: Place, _ keys: Keys, now: Int64, enforce: Bool) throws -> SignedSettings {
        guard let record = answer?.asRecord, let freeTier = record.flag("free_tier_enabled") else { throw Doubt.malformed }
        if !record.has("trial_duration_days") {
            if signedWith.contains(where: { name in record.has(name) }) { throw Doubt.malformed }
            if enforce { throw Doubt.unsigned }
            return SignedSettings(freeTier: freeTier, trial: nil)
        }
        guard record.has("kid"), record.has("signature") else { throw Doubt.unsigned }
        guard let kid = record.field("kid"), let signature = record.text("signature"), let trial = length(in: record) else {
            throw Doubt.malformed
        }
        guard let key = keys[kid] else { throw Doubt.unknownKey }
        let times = [String(trial.issuedAt), String(trial.expiresAt)]
        let parts =
            ["cfg1", kid, place.tenantID, place.productID] + times + [String(trial.days), freeTier ? "true" : "false"]
        guard Statements.isSigned(parts, signature, key) else { throw Doubt.badSignature }
        if now > trial.expiresAt { throw Doubt.over }
        return SignedSettings(freeTier: freeTier, trial: trial)
    }

    private static func length(in record: Record) -> TrialLength? {
        guard let days = record.seconds("trial_duration_days"), let issuedAt = record.seconds("issued_at"),
            let expiresAt = record.seconds("expires_at")
        else { return nil }
        let names = ["trial_duration_days", "free_tier_enabled"] + signedWith
        let signed = Record(names.map { name in (name, record[name]) })
        return TrialLength(days: days, issuedAt: issuedAt, expiresAt: expiresAt, signed: signed)
    }
}
