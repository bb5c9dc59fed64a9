import XCTest

@testable import KeyledgerClient

/// The vectors that every client passes.
final class VectorsTests: XCTestCase {
    func testEveryVectorButThoseOfWebhooks() throws {
        var passed = 0
        var failed = 0
        for file in Vectors.files {
            let all = try Vectors.read(file)
            let cases = all.cases().map { one in (one, compared(file, all, one)) }
            let readings = all.cases("readings").map { one in (one, PlainChecks.reading(one)) }
            for (one, compared) in cases + readings {
                if compared.isEqual {
                    passed += 1
                } else {
                    failed += 1
                    let found = JsonWriter.write(compared.found)
                    let expected = JsonWriter.write(compared.expected)
                    XCTFail("\(file): \(one.needed("name"))\n  \(found)\n  and not \(expected)")
                }
            }
        }
        print("\(passed) passed, \(failed) failed")
        XCTAssertGreaterThan(passed, 600)
    }

    func testEverySignatureOfWycheproofIsJudgedAsItIsMeant() throws {
        for one in try Vectors.wycheproof().cases("tests") {
            let bytes = ["msg", "sig", "pk"].map { name in Bytes.fromHex(one.needed(name)) ?? [] }
            let found = Ed25519.isSigned(bytes[0], bytes[1], bytes[2])
            XCTAssertEqual(found, one.needed("result") == "valid", JsonWriter.write(one))
        }
    }

    /// Under the point of order one, this would be a signature of any message.
    func testAKeyOfLowOrderSignsNothing() {
        let point: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)
        let signature = point + [UInt8](repeating: 0, count: 32)
        XCTAssertFalse(Ed25519.isSigned(Array("any".utf8), signature, point))
    }

    private func compared(_ file: String, _ all: Record, _ one: Record) -> Compared {
        switch file {
        case "license-keys": return PlainChecks.licenseKey(one)
        case "devices": return PlainChecks.sharedValue(one)
        case "answers": return PlainChecks.answer(all, one)
        case "notices": return PlainChecks.notice(all, one)
        default: return signed(file, all, one)
        }
    }

    private func signed(_ file: String, _ all: Record, _ one: Record) -> Compared {
        // Two files have no place, and need none.
        guard let place = all.place ?? (try? Place(tenantID: "acme", productID: "editor")) else {
            return Compared(found: .null, expected: .flag(false))
        }
        let checks = SignedChecks(all: all, place: place)
        switch file {
        case "paseto": return checks.token(one)
        case "leases": return checks.lease(one)
        case "leases2", "relays": return checks.lease2(one)
        case "license-files": return checks.licenseFile(one)
        case "withdrawn": return checks.withdrawn(one)
        case "requests": return checks.request(one)
        case "refusals": return checks.refusal(one)
        case "settings": return checks.settings(one)
        case "keys": return checks.key(one)
        default: return Story.check(all, one, place)
        }
    }
}
