import XCTest

@testable import KeyledgerClient

final class TextTests: XCTestCase {
    func testHalvesOfPairsAreReadAsWhatTheyAreSignedAs() {
        XCTAssertEqual(JsonReader.read("\"\\ud800\""), .text("\u{fffd}"))
        let mixed = JsonReader.read("\"\\udc00\\ud83d\\ude00\\ud83d!\\\\ud800\"")
        XCTAssertEqual(mixed, .text("\u{fffd}\u{1f600}\u{fffd}!\\ud800"))
        XCTAssertNil(JsonReader.read("\"\\ud80\""))
    }

    func testWholeNumbersStayExact() {
        XCTAssertEqual(JsonReader.read("9007199254740993"), .integer(9_007_199_254_740_993))
        XCTAssertNil(JsonReader.read("9007199254740993")?.safeInteger)
        XCTAssertEqual(JsonReader.read("1.5e3")?.safeInteger, 1500)
        XCTAssertEqual(JsonReader.read("-0").map { zero in JsonWriter.write(zero) }, "0")
        XCTAssertEqual(JsonReader.read("1e999").map { much in JsonWriter.write(much) }, "null")
        for text in ["01", "1.", ".5", "+1", "1e", "-", "NaN", "0x1", "[1,]", "{\"a\":1,}", "\"\t\"", "", "1 1"] {
            XCTAssertNil(JsonReader.read(text), text)
        }
    }

    func testWhatIsNestedTooDeepIsNoJson() {
        let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        XCTAssertNotNil(JsonReader.read(nested(127)))
        XCTAssertNil(JsonReader.read(nested(128)))
        XCTAssertNil(JsonReader.read(String(repeating: "[", count: 60_000)))
    }

    func testNamesThatAreWholeNumbersComeFirst() {
        let read = JsonReader.read("{\"b\":1,\"10\":2,\"a\":3,\"9\":4,\"01\":5,\"4294967295\":6,\"b\":7}")?.asRecord
        let names = read?.entries.map { entry in entry.name }
        XCTAssertEqual(names, ["9", "10", "b", "a", "01", "4294967295"])
        XCTAssertEqual(read?.safeInteger("b"), 7)
    }

    /// Swift takes both for the same text, and whoever has signed one of them has not signed the other.
    func testTextsAreComparedByTheirBytes() {
        let read = JsonReader.read("{\"\u{e9}\":1,\"e\u{301}\":2}")?.asRecord
        XCTAssertEqual(read?.count, 2)
        XCTAssertEqual(read?.safeInteger("e\u{301}"), 2)
        XCTAssertNil(Token("v4.public.\u{301}"))
    }

    func testBase64HasOneSpelling() {
        XCTAssertEqual(Bytes.fromBase64("AQI="), [1, 2])
        XCTAssertEqual(Bytes.fromBase64URL("AQI"), [1, 2])
        XCTAssertEqual(Bytes.fromBase64URL("-_8"), [0xfb, 0xff])
        for text in ["AQI", "AQJ=", "AQI=\n", "AQI==", "A", "AQ-_"] {
            XCTAssertNil(Bytes.fromBase64(text), text)
        }
        XCTAssertEqual(Bytes.fromAnyBase64(" AQ\nJ"), [1, 2])
        XCTAssertNil(Bytes.fromAnyBase64("AQ-_"))
    }

    func testDatesOfHTTPInAllForms() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            XCTAssertEqual(Times.retryAfterMs(text, nowMs: 784_111_777_000 - 5000), 5000, text)
        }
        for text in ["", "-1", "1.5", "tomorrow", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT"] {
            XCTAssertNil(Times.retryAfterMs(text, nowMs: 0), text)
        }
    }

    func testAPrintedTimeIsReadAsTheSame() {
        for seconds: Int64 in [-62_167_219_200, -1, 0, 951_782_400, 1_793_530_000, 253_402_300_799] {
            let printed = Times.iso(seconds)
            XCTAssertTrue(printed.hasSuffix(".000Z"))
            XCTAssertEqual(Times.seconds(of: "\(printed.dropLast(5))Z"), seconds)
        }
    }

    func testAMachineIsReadFromItsFiles() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("keyledger-\(Bytes.randomHex(8))")
        defer { try? FileManager.default.removeItem(at: root) }
        let files = [
            "etc/machine-id": "5d41402abc4b2a76b9719d911017c592\n",
            "sys/class/dmi/id/board_serial": "To be filled by O.E.M.\n",
            "sys/block/sda/removable": "1\n",
            "sys/block/sda/serial": "STICK1",
            "sys/block/nvme0n1/serial": "S4EVNX0M\n",
            "sys/block/nvme0n1p1/serial": "PART",
            "sys/class/net/docker0/address": "52:54:00:12:34:56",
            "sys/class/net/eth0/address": "3c:22:fb:01:02:03\n",
            "sys/class/net/eth0/device/modalias": "pci:v8086",
            "sys/class/net/dock0/address": "3c:22:fb:09:09:09",
            "sys/class/net/dock0/device/modalias": "usb:v0bda",
        ]
        for (path, text) in files {
            let file = root.appendingPathComponent(path)
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let reading = LinuxMachine(root: "\(root.path)/").reading()
        let found = reading.components.compactMap { part in part.value }
        XCTAssertTrue(found.contains("S4EVNX0M\n") && found.contains("3c:22:fb:01:02:03\n"))
        let identity = reading.identity(in: try Place(tenantID: "acme", productID: "editor"))
        XCTAssertEqual(identity.components.keys.sorted(), ["disk", "mac", "os"])
        XCTAssertNotNil(identity.machineHash)
        try Data().write(to: root.appendingPathComponent(".dockerenv"))
        XCTAssertEqual(LinuxMachine(root: "\(root.path)/").reading(), Reading())
    }
}
