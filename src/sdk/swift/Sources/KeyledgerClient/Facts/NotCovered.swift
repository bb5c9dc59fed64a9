/// What the server says of a build that a license does not cover. It is not signed: it explains, and takes nothing away.
struct NotCovered: Equatable, Sendable {
    /// Until when builds are covered.
    let updatesUntil: Int64
    /// The newest release of those.
    let newestRelease: Release?

    /// What an answer says of the build; nil when it says something else.
    static func inAnswer(_ answer: Json?) -> NotCovered? {
        guard let record = answer?.asRecord, record.text("reason") == "build_not_covered" else { return nil }
        guard let updatesUntil = record.seconds("updates_until") else { return nil }
        let release = record.record("newest_covered_release").flatMap { release in read(release, "built_at") }
        return NotCovered(updatesUntil: updatesUntil, newestRelease: release)
    }

    /// Reads what was stored.
    static func fromStored(_ stored: Record) -> NotCovered? {
        guard let updatesUntil = stored.seconds("updatesUntil") else { return nil }
        let release = stored.record("newestRelease").flatMap { release in read(release, "builtAt") }
        return NotCovered(updatesUntil: updatesUntil, newestRelease: release)
    }

    /// What is stored of it.
    var stored: Record {
        Record([("updatesUntil", Json.integer(updatesUntil)), ("newestRelease", newestRelease.map(StateJson.release))])
    }

    private static func read(_ release: Record, _ builtAt: String) -> Release? {
        guard let version = release.text("version"), let time = release.seconds(builtAt) else { return nil }
        // An app may open it, so nothing but the address of a page is handed on.
        let url = release.text("url").flatMap { url in url.begins(with: "https://") ? url : nil }
        return Release(version: version, builtAt: time, url: url)
    }
}
