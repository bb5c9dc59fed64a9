import Foundation

@testable import KeyledgerClient

/// The test vectors of `docs/reference/vectors`.
enum Vectors {
    struct Missing: Error, CustomStringConvertible {
        let path: String

        var description: String { "\(path) is no file of vectors" }
    }

    /// The files with cases for an app. Webhooks reach servers, and no app.
    static let files = [
        "answers", "devices", "keys", "leases", "leases2", "license-files", "license-keys", "notices", "paseto", "refusals",
        "relays", "requests", "settings", "states-files", "states-leases", "states-machines", "states-trials", "withdrawn",
    ]

    /// Where the vectors are: in the repository of keyledger, or where `KEYLEDGER_VECTORS` says.
    static var folder: URL {
        if let set = ProcessInfo.processInfo.environment["KEYLEDGER_VECTORS"] { return URL(fileURLWithPath: set) }
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<6 {
            root.deleteLastPathComponent()
        }
        return root.appendingPathComponent("docs/reference/vectors")
    }

    static func read(_ file: String) throws -> Record {
        try read(folder.appendingPathComponent("\(file).json"))
    }

    /// The vectors of Wycheproof, which are beside the tests of the repository.
    static func wycheproof() throws -> Record {
        var root = folder
        for _ in 0..<3 {
            root.deleteLastPathComponent()
        }
        return try read(root.appendingPathComponent("test/sdk/wycheproof-ed25519.json"))
    }

    private static func read(_ url: URL) throws -> Record {
        let bytes = Array(try Data(contentsOf: url))
        guard let record = JsonReader.read(bytes)?.asRecord else { throw Missing(path: url.path) }
        return record
    }
}

/// What the vectors have, which these tests rely on.
extension Record {
    func cases(_ name: String = "cases") -> [Record] {
        (list(name) ?? []).compactMap { one in one.asRecord }
    }

    func needed(_ name: String) -> String {
        text(name) ?? ""
    }

    /// The members with these names.
    func picked(_ names: [String]) -> Json {
        .record(Record(names.map { name in (name, self[name]) }))
    }

    var place: Place? {
        try? Place(tenantID: needed("tenantId"), productID: needed("productId"))
    }

    var keys: Keys {
        var keys = Keys()
        for member in record("keyset")?.record("keys")?.members ?? [] {
            keys[member.name] = member.value.asText
        }
        return keys
    }

    var device: SignedMachine? {
        guard let device = record("device") else { return nil }
        var machine = SignedMachine(hash: device.text("machineHash"))
        for member in device.record("components")?.members ?? [] {
            machine.components[member.name] = member.value.asText
        }
        return machine
    }

    var now: Int64 { seconds("now") ?? 0 }
}

/// What was found, and what is expected.
struct Compared {
    let found: Json
    let expected: Json

    /// Whether both are the same, with numbers as JavaScript compares them, and members in any order.
    var isEqual: Bool { Compared.isEqual(found, expected) }

    private static func isEqual(_ one: Json, _ other: Json) -> Bool {
        switch (one, other) {
        case (.list(let list), .list(let second)):
            return list.count == second.count && zip(list, second).allSatisfy { pair in isEqual(pair.0, pair.1) }
        case (.record(let record), .record(let second)):
            return record.count == second.count
                && record.members.allSatisfy { member in
                    second[member.name].map { value in isEqual(member.value, value) } ?? false
                }
        default:
            return Json.isSame(one, other)
        }
    }
}
