import XCTest

@testable import KeyledgerClient

/// Reads arbitrary bytes with everything that reads foreign ones. None may end the program, take longer than a second, or grant something:
/// what is read is made of the vectors, with keys that have signed none of it.
final class FuzzTests: XCTestCase {
    /// For longer, or other input: `KEYLEDGER_FUZZ_SECONDS` and `KEYLEDGER_FUZZ_SEED`.
    func testArbitraryBytesAreReadWithoutAFailureAndGrantNothing() throws {
        let set = ProcessInfo.processInfo.environment
        let seconds = set["KEYLEDGER_FUZZ_SECONDS"].flatMap { text in Double(text) } ?? 3
        let seed = set["KEYLEDGER_FUZZ_SEED"].flatMap { text in UInt64(text) } ?? 1
        var made = try MadeBytes(seed)
        let all = try Vectors.read("leases2")
        let place = try XCTUnwrap(all.place)
        let reader = try ForeignReader(place, kids: Array(all.keys.keys))
        let end = Date().addingTimeInterval(seconds)
        var runs = 0
        while Date() < end {
            let bytes = made.next()
            let start = Date()
            reader.read(bytes, isRefusal: runs % 2 == 0, status: 100 + runs % 500)
            let length = Date().timeIntervalSince(start)
            XCTAssertLessThan(length, 1, "with seed \(seed): \(Bytes.base64(bytes))")
            runs += 1
        }
        print("\(runs) texts read, 0 failed")
        XCTAssertGreaterThan(runs, 0)
    }
}

/// Everything that reads what is foreign.
private struct ForeignReader {
    private let place: Place
    private let keys: Keys
    private let stranger: [UInt8]

    /// With the same ids of keys, and a key that has signed nothing.
    init(_ place: Place, kids: [String]) throws {
        let stranger = try XCTUnwrap(Ed25519.publicKey(of: [UInt8](repeating: 0x77, count: 32)))
        var keys = Keys()
        for kid in kids {
            keys[kid] = Bytes.base64(stranger)
        }
        self.place = place
        self.keys = keys
        self.stranger = stranger
    }

    func read(_ bytes: [UInt8], isRefusal: Bool, status: Int) {
        let text = String(decoding: bytes, as: UTF8.self)
        let json = JsonReader.read(bytes) ?? .text(text)
        let written = JsonWriter.write(json)
        XCTAssertEqual(JsonReader.read(written).map { value in JsonWriter.write(value) }, written)
        var known = Known(installID: "install", keys: keys)
        var body = Record()
        body.set("lease2", .text(text))
        body.set("lease", json)
        body.set("refusal", isRefusal ? json : nil)
        let asked = HeldLicense(key: "ACME-1", instanceID: "ins_1")
        refused { try Take.proof(&known, Json.record(body), asked, place, now: 0) }
        refused { try Take.proof(&known, json, asked, place, now: 0) }
        refused { try Take.carried(&known, Armor.token(in: text), place, nil, now: 0) }
        _ = Doubt.judge { try Take.settings(&known, json, place, now: 0, enforce: false) }
        Take.beginTrial(&known, now: 0)
        Take.trial(&known, json)
        XCTAssertNil(known.trialDays, "a trial length is taken")
        readStored(text)
        _ = Problem.of(Answered(status: status, body: json, retryAfterMs: nil)).description
        _ = Times.retryAfterMs(text, nowMs: 0)
        _ = LicenseKey.hash(of: text)
        _ = SharedValues.isShared(text)
        XCTAssertFalse(Keyset.isKey(text, of: "k"))
        XCTAssertFalse(Ed25519.isSigned(bytes, Array(bytes.prefix(64)), stranger))
    }

    private func readStored(_ text: String) {
        guard let known = KnownText.read(text, place, keys) else { return }
        let around = Circumstances(failing: false, device: nil, builtAt: 0, defaultTrialDays: 14)
        let state = StateOf.state(known, now: 1_793_530_000, around)
        XCTAssertNil(state.grant, "a stored license grants something")
        _ = state.description
        XCTAssertEqual(KnownText.read(KnownText.write(known), place, keys), known, "it is not read as it was stored")
    }

    private func refused(_ step: () throws -> Age) {
        if case .success(.fresh) = Doubt.judge(step) {
            XCTFail("it is taken")
        }
    }
}

/// Bytes that are made of the vectors, in which something was changed.
private struct MadeBytes {
    private static let tokens = [
        "null", "true", "1e999", "-0", "9007199254740993", "1e3", "\"\\ud800\"", "\"__proto__\":", "[[[[", "}}}}",
        "\u{130}", "ß", "\u{feff}", "v4.public.", "|", "0", "-1", "1.0", "\"\"", "2026-02-30T00:00:00Z", "{\"token\":",
        ",", ":", "-----",
    ]

    private var random: UInt64
    private var seeds: [[UInt8]] = []

    init(_ seed: UInt64) throws {
        random = seed &* 2 &+ 1
        for file in Vectors.files {
            add(.record(try Vectors.read(file)))
        }
    }

    mutating func next() -> [UInt8] {
        var bytes = seeds[below(seeds.count)]
        for _ in 0..<below(6) {
            change(&bytes)
        }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let at = below(bytes.count + 1)
        var inserted: [UInt8] = []
        switch below(6) {
        case 0:
            if at < bytes.count {
                bytes[at] ^= UInt8(1 << below(8))
            }
        case 1:
            let end = min(bytes.count, at + below(40))
            bytes.removeSubrange(at..<end)
        case 2:
            inserted = Array(MadeBytes.tokens[below(MadeBytes.tokens.count)].utf8)
        case 3:
            let other = seeds[below(seeds.count)]
            let from = below(other.count)
            inserted = Array(other.dropFirst(from).prefix(below(80)))
        case 4 where below(50) == 0:
            inserted = [UInt8](repeating: Array("[{\"-".utf8)[below(4)], count: 60_000)
        default:
            for _ in 0..<below(8) {
                inserted.append(UInt8(below(256)))
            }
        }
        bytes.insert(contentsOf: inserted, at: at)
    }

    /// A number from the generator of xorshift64.
    private mutating func below(_ most: Int) -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return Int(random % UInt64(max(most, 1)))
    }

    /// The longer texts in a value, and the smaller objects.
    private mutating func add(_ value: Json) {
        switch value {
        case .text(let text):
            if text.utf8.count > 20 { seeds.append(Array(text.utf8)) }
        case .list(let list):
            for item in list {
                add(item)
            }
        case .record(let record):
            if record.count < 40 { seeds.append(Array(JsonWriter.write(value).utf8)) }
            for member in record.members {
                add(member.value)
            }
        case .null, .flag, .integer, .number:
            break
        }
    }
}
