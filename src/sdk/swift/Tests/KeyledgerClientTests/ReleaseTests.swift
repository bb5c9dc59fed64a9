import XCTest

@testable import KeyledgerClient

/// A license file that is given back, from the vectors.
final class ReleaseTests: XCTestCase {
    func testAFileIsGivenBackWithTheSameTextAlsoAfterARestart() async throws {
        let storage = MemoryStorage()
        let clock = StubClock()
        let client = try await opened(storage, clock)
        let first = try await client.release()
        XCTAssertNotNil(first)
        XCTAssertEqual(client.state.status, .unlicensed(trialDays: nil))
        clock.advance(60)
        let again = try await client.release()
        XCTAssertEqual(again, first)
        let restarted = try LicenseClient(try options(storage, clock))
        let stored = try await restarted.release()
        XCTAssertEqual(stored, first)
    }

    func testATextThatWasEditedInTheStorageIsNotGivenOut() async throws {
        let storage = MemoryStorage()
        let clock = StubClock()
        let client = try await opened(storage, clock)
        let first = try await client.release()
        let token = try XCTUnwrap(first).token
        let text = try XCTUnwrap(try storage.read())
        XCTAssertTrue(text.contains(token))
        try storage.write(text.replacingOccurrences(of: token, with: "v4.public.AA"))
        let restarted = try LicenseClient(try options(storage, clock))
        let again = try await restarted.release()
        XCTAssertTrue(try XCTUnwrap(again).token.hasPrefix("v4.public.ey"))
    }

    /// A client that has the file of the first valid vector.
    private func opened(_ storage: MemoryStorage, _ clock: StubClock) async throws -> LicenseClient {
        let all = try Vectors.read("license-files")
        let valid = try XCTUnwrap(all.cases().first { one in one.flag("valid") == true })
        var offline = OfflineFacts(seed: String(repeating: "5", count: 64))
        offline.asked = Asked(nonce: all.needed("nonce"), licenseKeyHash: all.needed("licenseKeyHash"))
        offline.released = all.seconds("releasedSerial") ?? 0
        var known = Known(installID: "install", keys: all.keys)
        known.offline = offline
        let place = try XCTUnwrap(all.place)
        _ = try Take.carried(&known, valid.needed("token"), place, all.device, now: all.now)
        try storage.write(KnownText.write(known))
        let client = try LicenseClient(try options(storage, clock))
        let state = await client.load()
        XCTAssertNotNil(state.grant)
        return client
    }

    private func options(_ storage: MemoryStorage, _ clock: StubClock) throws -> ClientOptions {
        let all = try Vectors.read("license-files")
        var options = ClientOptions(place: try XCTUnwrap(all.place), storage: storage)
        options.keys = all.keys
        let device = all.device
        options.identity = { _ in
            device.map { machine in DeviceIdentity(machineHash: machine.hash, components: machine.components) }
        }
        options.clock = clock
        return options
    }
}
