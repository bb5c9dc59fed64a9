/// Tokens as texts to paste or to keep as files.
enum Armor {
    private static let edge = Array("-----".utf8)

    /// The text of a token, in lines of 64 characters between two that name it.
    static func around(_ kind: String, _ token: String) -> String {
        var text: [UInt8] = Array("-----BEGIN KEYLEDGER \(kind)-----\n".utf8)
        for (place, byte) in token.utf8.enumerated() {
            if place > 0 && place % 64 == 0 {
                text.append(UInt8(ascii: "\n"))
            }
            text.append(byte)
        }
        text.append(contentsOf: Array("\n-----END KEYLEDGER \(kind)-----\n".utf8))
        return String(decoding: text, as: UTF8.self)
    }

    /// The token in a text that was pasted or read from a file, also without its first and last line.
    static func token(in text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var token: [Unicode.Scalar] = []
        var at = 0
        while at < scalars.count {
            if let after = afterEdge(scalars, at) {
                at = after
                continue
            }
            if !JavaScriptText.isSpace(scalars[at]) {
                token.append(scalars[at])
            }
            at += 1
        }
        return JavaScriptText.joined(token)
    }

    /// Where a line such as `-----BEGIN KEYLEDGER LICENSE-----` ends that begins here.
    private static func afterEdge(_ scalars: [Unicode.Scalar], _ start: Int) -> Int? {
        guard isEdge(scalars, start) else { return nil }
        let named = start + edge.count
        var at = named
        while at < scalars.count, isOfName(scalars[at]) {
            at += 1
        }
        return at > named && isEdge(scalars, at) ? at + edge.count : nil
    }

    private static func isEdge(_ scalars: [Unicode.Scalar], _ start: Int) -> Bool {
        guard start + edge.count <= scalars.count else { return false }
        return scalars[start..<(start + edge.count)].allSatisfy { scalar in scalar == "-" }
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || (scalar.value >= 0x41 && scalar.value <= 0x5a)
    }
}
