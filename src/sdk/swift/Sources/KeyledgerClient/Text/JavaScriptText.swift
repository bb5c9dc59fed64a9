import Foundation

/// What JavaScript does with texts, so that all clients agree. All of it goes by code points: what Swift calls a character may be several.
enum JavaScriptText {
    /// Whether `\s` of JavaScript matches.
    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0d, 0x20, 0xa0, 0x1680, 0x2000...0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff: return true
        default: return false
        }
    }

    /// Whether a byte is one of `0` to `9`.
    static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// Whether a byte is one of `a` to `z`.
    static func isLowerLetter(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
    }

    /// Whether a byte is one of `A` to `Z`.
    static func isUpperLetter(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
    }

    /// Without white space at both ends.
    static func trimmed(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var start = 0
        var end = scalars.count
        while start < end, isSpace(scalars[start]) {
            start += 1
        }
        while end > start, isSpace(scalars[end - 1]) {
            end -= 1
        }
        return joined(scalars[start..<end])
    }

    /// The text of code points.
    static func joined<Scalars: Sequence>(_ scalars: Scalars) -> String where Scalars.Element == Unicode.Scalar {
        var text = String.UnicodeScalarView()
        for scalar in scalars {
            text.append(scalar)
        }
        return String(text)
    }

    /// NFKC, and after that upper case.
    static func upperCompatible(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in byte < 0x80 }
        let compatible = isPlain ? text : text.precomposedStringWithCompatibilityMapping
        var upper = ""
        for scalar in compatible.unicodeScalars {
            upper.unicodeScalars.append(contentsOf: scalar.properties.uppercaseMapping.unicodeScalars)
        }
        return upper
    }

    /// Lower case, with the sigma at the end of a word.
    static func lower(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var lower = ""
        for (at, scalar) in scalars.enumerated() {
            let isFinal = scalar == "\u{3a3}" && isCased(before: at, in: scalars) && !isCased(after: at, in: scalars)
            if isFinal {
                lower.unicodeScalars.append("\u{3c2}")
            } else {
                lower.unicodeScalars.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return lower
    }

    /// A value as one segment of a path, such that the server sees exactly this value.
    static func segment(_ value: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let plain = Array("-_.~".utf8)
        var encoded: [UInt8] = []
        for byte in value.utf8 {
            if isDigit(byte) || isLowerLetter(byte) || isUpperLetter(byte) || plain.contains(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Whether the letter before a place has a case, past what does not count.
    private static func isCased(before place: Int, in scalars: [Unicode.Scalar]) -> Bool {
        var at = place - 1
        while at >= 0, scalars[at].properties.isCaseIgnorable {
            at -= 1
        }
        return at >= 0 && scalars[at].properties.isCased
    }

    /// Whether the letter after a place has a case, past what does not count.
    private static func isCased(after place: Int, in scalars: [Unicode.Scalar]) -> Bool {
        var at = place + 1
        while at < scalars.count, scalars[at].properties.isCaseIgnorable {
            at += 1
        }
        return at < scalars.count && scalars[at].properties.isCased
    }
}
