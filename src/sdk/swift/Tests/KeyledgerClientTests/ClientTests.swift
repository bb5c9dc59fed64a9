import XCTest

@testable import KeyledgerClient

/// What an app sees of a client, with a transport and a clock of the test.
final class ClientTests: XCTestCase {
    func testWhatCannotWorkIsRefusedAtOnce() throws {
        for address in ["licenses.example.com", "ftp://licenses.example.com", "https://a/?x"] {
            var options = try Made.options()
            options.baseURL = URL(string: address)
            XCTAssertThrowsError(try LicenseClient(options), address) { error in
                XCTAssertEqual(error as? SetupError, .address)
            }
        }
        var options = try Made.options()
        for key in [nil, "", "a\r\nb"] {
            options.sdkKey = key
            XCTAssertThrowsError(try LicenseClient(options)) { error in XCTAssertEqual(error as? SetupError, .sdkKey) }
        }
        options.baseURL = nil
        XCTAssertThrowsError(try LicenseClient(options)) { error in
            XCTAssertEqual(error as? SetupError, .nothingToBelieve)
        }
        XCTAssertThrowsError(try Place(tenantID: "acme", productID: ".."))
        XCTAssertThrowsError(try Place(tenantID: "", productID: "editor"))
    }

    func testAClientWithoutAServerSendsNothing() async throws {
        let transport = StubTransport()
        var options = try Made.options(transport)
        options.baseURL = nil
        options.keys = ["21fe31dfa154a261": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="]
        let client = try LicenseClient(options)
        XCTAssertEqual(client.state.status, .starting)
        let stored = await client.load()
        XCTAssertEqual(stored.status, .unlicensed(trialDays: nil))
        await expect(.noServer) { try await client.activate("ACME-1") }
        await expect(.noLicense) { try await client.deactivate() }
        await expect(.malformed) { try await client.importLicense("nothing") }
        let released = try await client.release()
        XCTAssertNil(released)
        let request = try await client.createOfflineRequest("ACME-1")
        XCTAssertTrue(request.text.hasPrefix("-----BEGIN KEYLEDGER REQUEST-----\nv4.public."))
        XCTAssertTrue(request.token.hasPrefix("v4.public."))
        XCTAssertEqual(transport.sent.count, 0)
    }

    func testThreeAttemptsAreMadeWithJitterBetweenThem() async throws {
        let transport = StubTransport()
        let clock = StubClock()
        let client = try LicenseClient(try Made.options(transport, clock))
        await expect(.offline) { try await client.validate() }
        XCTAssertEqual(transport.sent.count, 3)
        XCTAssertEqual(clock.pauses.count, 2)
        XCTAssertLessThanOrEqual(clock.pauses[0], 0.5)
        XCTAssertLessThanOrEqual(clock.pauses[1], 1)
    }

    func testAPauseThatTheServerAsksForIsKeptByLaterCalls() async throws {
        let busy = TransportAnswer(status: 429, body: "{\"error\":\"busy\"}", retryAfter: "60")
        let transport = StubTransport { _ in busy }
        let clock = StubClock()
        let client = try LicenseClient(try Made.options(transport, clock))
        for _ in 0..<2 {
            let problem = await expect(.rateLimited) { try await client.activate("ACME-1") }
            XCTAssertEqual(problem?.retryAfter, 60)
        }
        XCTAssertEqual(transport.sent.count, 1)
        clock.advance(61)
        await expect(.rateLimited) { try await client.activate("ACME-1") }
        XCTAssertEqual(transport.sent.count, 2)
    }

    func testARequestSaysWhatTheReferenceSays() async throws {
        let none = TransportAnswer(status: 404, body: "{\"error\":\"no such license\",\"reason\":\"not_found\"}")
        let transport = StubTransport { _ in none }
        var options = try Made.options(transport)
        options.appVersion = "1.4.0"
        options.appBuiltAt = 1_793_000_000
        options.deviceName = "ada-laptop"
        let client = try LicenseClient(options)
        await expect(.notFound) { try await client.activate("ACME-1") }
        let request = try XCTUnwrap(transport.sent.first)
        XCTAssertEqual(request.url.absoluteString, "https://licenses.example.com/acme/editor/activate")
        XCTAssertFalse("\(request)".contains("ACME-1"))
        XCTAssertEqual(request.headers, ["x-service-sdk-key": "kl_sdk_1", "content-type": "application/json"])
        XCTAssertEqual(request.timeout, 15)
        let body = try XCTUnwrap(JsonReader.read(try XCTUnwrap(request.body))?.asRecord)
        XCTAssertEqual(body.text("free_tier_instance_id")?.count, 32)
        var expected = Record()
        expected.set("license_key", .text("ACME-1"))
        expected.set("instance_name", .text("ada-laptop"))
        expected.set("free_tier_instance_id", body["free_tier_instance_id"])
        expected.set("sdk", .text("swift"))
        expected.set("sdk_version", .text(LicenseClient.version))
        expected.set("app_version", .text("1.4.0"))
        expected.set("app_built_at", .integer(1_793_000_000))
        expected.set("lease_version", .integer(2))
        XCTAssertEqual(JsonWriter.write(body), JsonWriter.write(expected))
    }

    func testWhatIsTooLongOrNoAnswerIsNotGenuine() async throws {
        let more = String(repeating: "x", count: 65_536)
        let long = "{\"free_tier_enabled\":true,\"more\":\"" + more + "\"}"
        for body in [long, "<h1>Hello", "", "[]", "{\"free_tier_enabled\":1}"] {
            let transport = StubTransport { _ in TransportAnswer(status: 200, body: body) }
            let client = try LicenseClient(try Made.options(transport))
            await expect(.notGenuine) { try await client.validate() }
            XCTAssertEqual(client.state.status, .unlicensed(trialDays: nil))
        }
    }

    func testUnsignedSettingsAreTakenUnlessSignedOnesAreRequired() async throws {
        let client = try LicenseClient(try Made.options(Made.freeTier()))
        let state = try await client.validate()
        XCTAssertEqual(state.status, .free(trialDays: nil))
        XCTAssertFalse(client.has("pro"))
        XCTAssertNil(client.value("pro"))
        var strict = try Made.options(Made.freeTier())
        strict.enforceSettings = true
        let other = try LicenseClient(strict)
        await expect(.notGenuine) { try await other.validate() }
    }

    func testCallsAtTheSameTimeShareARequestAndNoneWaitsForTheState() async throws {
        let transport = Made.freeTier()
        let client = try LicenseClient(try Made.options(transport))
        try await withThrowingTaskGroup(of: LicenseState.self) { group in
            for _ in 0..<8 {
                group.addTask { try await client.validate() }
            }
            for try await state in group {
                XCTAssertEqual(state.status, .free(trialDays: nil))
            }
        }
        XCTAssertLessThanOrEqual(transport.sent.count, 8)
    }

    func testReadersGetTheNewestState() async throws {
        let client = try LicenseClient(try Made.options(Made.freeTier()))
        var states = client.states.makeAsyncIterator()
        let first = await states.next()
        XCTAssertEqual(first?.status, .starting)
        try await client.validate()
        let newest = await states.next()
        XCTAssertEqual(newest?.status, .free(trialDays: nil))
    }

    func testAStorageThatFailsIsToldAndNothingSignedIsGivenOut() async throws {
        let errors = Locked<[String]>([])
        var options = try Made.options(Made.freeTier(), StubClock(), FullStorage())
        options.onStorageError = { error in
            errors.with { errors in errors.append("\(error)") }
        }
        let client = try LicenseClient(options)
        let state = try await client.validate()
        XCTAssertEqual(state.status, .free(trialDays: nil))
        do {
            _ = try await client.createOfflineRequest("ACME-1")
            XCTFail("a request was given out")
        } catch {
            XCTAssertEqual(error as? StorageFailed, StorageFailed())
        }
        XCTAssertFalse(errors.with { errors in errors.isEmpty })
    }

    func testAClockThatIsSetBackIsNoticedAfterARestart() async throws {
        let storage = MemoryStorage()
        let clock = StubClock()
        let client = try LicenseClient(try Made.options(StubTransport(), clock, storage))
        await client.load()
        clock.advance(3600)
        XCTAssertFalse(client.state.clockSetBack)
        clock.advance(-3600)
        let again = try LicenseClient(try Made.options(StubTransport(), clock, storage))
        let state = await again.load()
        XCTAssertTrue(state.clockSetBack)
    }

    func testAStartedClientValidatesAtOnceAndEndsWhenItIsToldTo() async throws {
        let transport = Made.freeTier()
        let client = try LicenseClient(try Made.options(transport))
        XCTAssertEqual(client.untilNextValidation, 0)
        await client.start()
        for await state in client.states {
            if state.status == .free(trialDays: nil) { break }
        }
        await client.stop()
        XCTAssertEqual(transport.sent.count, 1)
    }

    func testAPurchaseThatDoesNotComeIsAskedForDuringHalfAMinute() async throws {
        let transport = Made.freeTier()
        let clock = StubClock()
        let client = try LicenseClient(try Made.options(transport, clock))
        let isChanged = await client.refreshAfterPurchase()
        XCTAssertFalse(isChanged)
        XCTAssertEqual(transport.sent.count, 11)
        XCTAssertEqual(clock.pauses, Array(repeating: 3, count: 10))
    }

    func testALicenseIsChosenInTheBrowser() async throws {
        let polls = Locked<Int>(0)
        let transport = StubTransport { request in
            let path = request.url.path
            if path.hasSuffix("/poll") {
                let count = polls.with { polls -> Int in
                    polls += 1
                    return polls
                }
                if count == 1 { return TransportAnswer(status: 200, body: "{\"status\":\"pending\"}") }
                if count == 2 { return TransportAnswer(status: 503, body: "") }
                return TransportAnswer(status: 200, body: "{\"status\":\"chosen\",\"license_key\":\"ACME-1\"}")
            }
            if path.hasSuffix("/browser-activations") { return TransportAnswer(status: 200, body: Made.page) }
            return TransportAnswer(status: 404, body: "{\"error\":\"no such license\",\"reason\":\"not_found\"}")
        }
        let clock = StubClock()
        let client = try LicenseClient(try Made.options(transport, clock))
        let shown = Locked<[ActivationPage]>([])
        await expect(.notFound) {
            try await client.activateInBrowser { page in shown.with { shown in shown.append(page) } }
        }
        let pages = shown.with { shown in shown }
        XCTAssertEqual(pages.map { page in page.url.absoluteString }, ["https://acme.example.com/activate?code=WDJB-MJHT"])
        XCTAssertEqual(pages.map { page in page.code }, ["WDJB-MJHT"])
        let last = try XCTUnwrap(transport.sent.last)
        XCTAssertTrue(last.url.path.hasSuffix("/acme/editor/activate"))
        XCTAssertEqual(clock.pauses.filter { pause in pause == 5 }.count, 2)
    }

    func testAWaitForTheBrowserEnds() async throws {
        let transport = StubTransport { request in
            let isPoll = request.url.path.hasSuffix("/poll")
            return TransportAnswer(status: 200, body: isPoll ? "{\"status\":\"pending\"}" : Made.page)
        }
        let client = try LicenseClient(try Made.options(transport))
        await expect(.refused) { try await client.activateInBrowser { _ in } }
        XCTAssertEqual(transport.sent.count, 121)
        let page = Made.page.replacingOccurrences(of: "https:", with: "file:")
        let other = try LicenseClient(try Made.options(StubTransport { _ in TransportAnswer(status: 200, body: page) }))
        await expect(.notGenuine) { try await other.activateInBrowser { _ in } }
    }

    func testPausesGrowToAnHourAndKeepWhatTheServerAsksFor() {
        let offline = Problem(.offline, "no answer")
        XCTAssertEqual(Schedule.pause(after: offline, 0, nil, 0), 1)
        XCTAssertEqual(Schedule.pause(after: offline, 60, nil, 1), 3601)
        XCTAssertEqual(Schedule.pause(after: offline, 60, 40, 1), 10)
        var full = Problem(.seatLimitReached, "full")
        full.retryAfter = 90
        XCTAssertEqual(Schedule.pause(after: full, 5, nil, 0), 90)
        XCTAssertEqual(Schedule.pause(43_200, nil, 0.5), 43_200)
        XCTAssertEqual(Schedule.pause(43_200, 7200, 0.5), 3600)
        XCTAssertEqual(Schedule.pause(43_200, 1, 0.5), 30)
    }

    @discardableResult
    private func expect<Answer>(_ code: Problem.Code, _ call: () async throws -> Answer) async -> Problem? {
        do {
            _ = try await call()
            XCTFail("nothing was thrown, and not \(code.rawValue)")
            return nil
        } catch {
            let problem = error as? Problem
            XCTAssertEqual(problem?.code, code, "\(error)")
            return problem
        }
    }
}
