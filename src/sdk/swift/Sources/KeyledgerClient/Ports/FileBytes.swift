#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file of the system could not be used.
public struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was to be done, such as `open`.
    public let action: String
    /// The path of the file.
    public let path: String
    /// `errno` of the system.
    public let code: Int32

    /// In English, for logs.
    public var description: String { "\(action) \(path): \(String(cString: strerror(code)))" }
}

/// Reads and writes whole files with the calls of POSIX, which say exactly which rights a new file has and when it is on the disk.
enum FileBytes {
    /// Reads a file; also those of `/sys`, whose length is not known before.
    ///
    /// - Throws: ``FileError``, with the code `ENOENT` when there is none.
    static func read(_ path: String) throws -> [UInt8] {
        let file = openToRead(path)
        guard file >= 0 else { throw FileError(action: "open", path: path, code: errno) }
        defer { closeFile(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = readSome(file, &part)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw FileError(action: "read", path: path, code: errno) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: part[..<count])
        }
    }

    /// Writes a new file that only its user can read, and waits until the disk has it.
    static func writeNew(_ path: String, _ bytes: [UInt8]) throws {
        let file = openNew(path)
        guard file >= 0 else { throw FileError(action: "create", path: path, code: errno) }
        defer { closeFile(file) }
        var written = 0
        while written < bytes.count {
            let count = writeSome(file, bytes, written)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw FileError(action: "write", path: path, code: errno) }
            written += count
        }
        guard synchronize(file) == 0 else { throw FileError(action: "synchronize", path: path, code: errno) }
    }

    /// Puts a file in the place of another one.
    static func move(_ path: String, to other: String) throws {
        guard renameFile(path, other) == 0 else { throw FileError(action: "replace", path: other, code: errno) }
    }

    /// Removes a file, if there is one.
    static func remove(_ path: String) {
        removeFile(path)
    }
}

// Outside of a type, where the names are those of the system.

private func openToRead(_ path: String) -> Int32 {
    open(path, O_RDONLY | O_CLOEXEC)
}

private func openNew(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
}

private func closeFile(_ file: Int32) {
    _ = close(file)
}

private func readSome(_ file: Int32, _ part: inout [UInt8]) -> Int {
    let most = part.count
    return part.withUnsafeMutableBytes { bytes in read(file, bytes.baseAddress, most) }
}

private func writeSome(_ file: Int32, _ bytes: [UInt8], _ from: Int) -> Int {
    bytes[from...].withUnsafeBytes { rest in write(file, rest.baseAddress, rest.count) }
}

private func synchronize(_ file: Int32) -> Int32 {
    fsync(file)
}

private func renameFile(_ path: String, _ other: String) -> Int32 {
    rename(path, other)
}

private func removeFile(_ path: String) {
    _ = unlink(path)
}
