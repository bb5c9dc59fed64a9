import XCTest

@testable import KeyledgerClient

final class FileStorageTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keyledger-\(Bytes.randomHex(8))")

    override func tearDown() {
        try? FileManager.default.removeItem(at: folder)
        super.tearDown()
    }

    func testAWriteReplacesTheFileAsAWholeAndLeavesNoDraft() async throws {
        let deep = folder.appendingPathComponent("deep")
        let storage = FileStorage(deep.appendingPathComponent("license.json"))
        XCTAssertNil(try storage.read())
        let texts = (0..<4).map { one in String(repeating: "\(one)", count: 50_000) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for text in texts {
                group.addTask {
                    for _ in 0..<20 {
                        try storage.write(text)
                        if let read = try storage.read() {
                            XCTAssertTrue(texts.contains(read), "a part of a text was read")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: deep.path), ["license.json"])
    }

    func testOnlyTheUserCanReadIt() throws {
        let file = folder.appendingPathComponent("license.json")
        try FileStorage(file).write("{}")
        XCTAssertEqual(try FileStorage(file).read(), "{}")
        XCTAssertEqual(try rights(file.path), 0o600)
        XCTAssertEqual(try rights(folder.path), 0o700)
    }

    func testWhatCannotBeReadOrWrittenIsAnError() throws {
        let file = folder.appendingPathComponent("license.json")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        XCTAssertThrowsError(try FileStorage(file).read())
        XCTAssertThrowsError(try FileStorage(file).write("{}"))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["license.json"])
    }

    private func rights(_ path: String) throws -> Int {
        let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        return try XCTUnwrap(found as? NSNumber).intValue & 0o777
    }
}
