import Foundation

/// Keeps it in a file that only its user can read. A write is complete or does not happen: a crash leaves the former text.
///
/// ```swift
/// let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
/// let storage = FileStorage(folder.appendingPathComponent("AcmeEditor/license.json"))
/// ```
public struct FileStorage: Storage {
    private let path: String

    /// Keeps it in this file. Folders that are missing are created.
    public init(_ file: URL) {
        path = file.path
    }

    /// Reads it; nil when there is no file.
    public func read() throws -> String? {
        do {
            return String(decoding: try FileBytes.read(path), as: UTF8.self)
        } catch let error as FileError where error.code == ENOENT {
            return nil
        }
    }

    /// Replaces the file as a whole.
    public func write(_ text: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let rights: [FileAttributeKey: Any] = [.posixPermissions: NSNumber(value: 0o700)]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: rights)
        let draft = "\(path).\(Bytes.randomHex(8)).tmp"
        do {
            try FileBytes.writeNew(draft, Array(text.utf8))
            try FileBytes.move(draft, to: path)
        } catch {
            FileBytes.remove(draft)
            throw error
        }
    }
}
