/// Reads JSON as `JSON.parse` does. What is nested more than 127 deep is no JSON for it, so that nothing overflows the stack.
struct JsonReader {
    private struct NoJson: Error {}

    private static let deepest = 127
    private static let blanks = Array(" \t\n\r".utf8)

    private let bytes: [UInt8]
    private var at = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The value of a text; nil for what is no JSON.
    static func read(_ text: String) -> Json? {
        var reader = JsonReader(Array(text.utf8))
        return try? reader.whole()
    }

    /// The value of bytes in UTF-8, which may begin with a byte order mark; nil for what is no JSON.
    static func read(_ bytes: [UInt8]) -> Json? {
        Bytes.text(bytes).flatMap { text in read(text) }
    }

    private mutating func whole() throws -> Json {
        let value = try self.value(0)
        skip()
        guard at == bytes.count else { throw NoJson() }
        return value
    }

    private mutating func value(_ depth: Int) throws -> Json {
        skip()
        switch peek() {
        case UInt8(ascii: "{"): return try record(depth)
        case UInt8(ascii: "["): return try list(depth)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", Json.flag(true))
        case UInt8(ascii: "f"): return try word("false", Json.flag(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func record(_ depth: Int) throws -> Json {
        guard depth < JsonReader.deepest else { throw NoJson() }
        var record = Record()
        at += 1
        skip()
        if peek() == UInt8(ascii: "}") {
            at += 1
            return .record(record)
        }
        while true {
            skip()
            let name = try text()
            skip()
            guard try next() == UInt8(ascii: ":") else { throw NoJson() }
            let member = try value(depth + 1)
            record.set(name, member)
            skip()
            let end = try next()
            if end == UInt8(ascii: "}") { return .record(record) }
            guard end == UInt8(ascii: ",") else { throw NoJson() }
        }
    }

    private mutating func list(_ depth: Int) throws -> Json {
        guard depth < JsonReader.deepest else { throw NoJson() }
        var list: [Json] = []
        at += 1
        skip()
        if peek() == UInt8(ascii: "]") {
            at += 1
            return .list(list)
        }
        while true {
            let item = try value(depth + 1)
            list.append(item)
            skip()
            let end = try next()
            if end == UInt8(ascii: "]") { return .list(list) }
            guard end == UInt8(ascii: ",") else { throw NoJson() }
        }
    }

    private mutating func word(_ word: String, _ value: Json) throws -> Json {
        for byte in word.utf8 {
            guard try next() == byte else { throw NoJson() }
        }
        return value
    }

    private mutating func text() throws -> String {
        guard try next() == UInt8(ascii: "\"") else { throw NoJson() }
        var written: [UInt8] = []
        while true {
            let byte = try next()
            if byte == UInt8(ascii: "\"") { return String(decoding: written, as: UTF8.self) }
            guard byte >= 0x20 else { throw NoJson() }
            if byte == UInt8(ascii: "\\") {
                let scalar = try escaped()
                written.append(contentsOf: Array(String(scalar).utf8))
            } else {
                written.append(byte)
            }
        }
    }

    private mutating func escaped() throws -> Unicode.Scalar {
        switch try next() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unit()
        default: throw NoJson()
        }
    }

    /// One code unit or a pair of them. Texts of Swift cannot hold half of a pair: it is read as U+FFFD, which is what it is signed as.
    private mutating func unit() throws -> Unicode.Scalar {
        let first = try hex()
        guard (0xd800..<0xdc00).contains(first) else { return Unicode.Scalar(first) ?? "\u{fffd}" }
        let start = at
        guard peek() == UInt8(ascii: "\\"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "u") else {
            return "\u{fffd}"
        }
        at += 2
        let second = try hex()
        guard (0xdc00..<0xe000).contains(second) else {
            at = start
            return "\u{fffd}"
        }
        return Unicode.Scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)) ?? "\u{fffd}"
    }

    private mutating func hex() throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = try next()
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value * 16 + UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value * 16 + UInt32(byte - UInt8(ascii: "a")) + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value * 16 + UInt32(byte - UInt8(ascii: "A")) + 10
            default: throw NoJson()
            }
        }
        return value
    }

    private mutating func number() throws -> Json {
        let start = at
        let isNegative = peek() == UInt8(ascii: "-")
        if isNegative { at += 1 }
        let isZero = peek() == UInt8(ascii: "0")
        if isZero { at += 1 } else { try digits() }
        var isWhole = true
        if peek() == UInt8(ascii: ".") {
            at += 1
            try digits()
            isWhole = false
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            at += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { at += 1 }
            try digits()
            isWhole = false
        }
        let written = String(decoding: bytes[start..<at], as: UTF8.self)
        if isWhole, !(isNegative && isZero), let whole = Int64(written) { return .integer(whole) }
        // It has the form of a number, so it can only be one that no double holds.
        return .number(Double(written) ?? (isNegative ? -Double.infinity : Double.infinity))
    }

    private mutating func digits() throws {
        let start = at
        while JavaScriptText.isDigit(peek()) {
            at += 1
        }
        guard at > start else { throw NoJson() }
    }

    private mutating func skip() {
        while JsonReader.blanks.contains(peek()) {
            at += 1
        }
    }

    /// A zero, which is nowhere allowed, at the end.
    private func peek() -> UInt8 {
        at < bytes.count ? bytes[at] : 0
    }

    private mutating func next() throws -> UInt8 {
        guard at < bytes.count else { throw NoJson() }
        at += 1
        return bytes[at - 1]
    }
}
