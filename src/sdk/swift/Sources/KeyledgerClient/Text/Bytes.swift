/// UTF-8, base64, hex and random bytes.
enum Bytes {
    private static let symbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSymbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let digits = Array("0123456789abcdef".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The text of bytes, without a byte order mark; nil when they are no UTF-8.
    static func text(_ bytes: [UInt8]) -> String? {
        let marked = bytes.starts(with: [0xef, 0xbb, 0xbf])
        let kept = marked ? Array(bytes.dropFirst(3)) : bytes
        // What is no UTF-8 is repaired, and has other bytes then.
        let text = String(decoding: kept, as: UTF8.self)
        return text.utf8.elementsEqual(kept) ? text : nil
    }

    /// The bytes of canonical base64; nil for anything else: another spelling of the same bytes is not what was sent.
    static func fromBase64(_ text: String) -> [UInt8]? {
        let written = Array(text.utf8)
        guard let bytes = decoded(withoutPadding(written), symbols), padded(bytes) == written else { return nil }
        return bytes
    }

    /// The bytes of base64 in any spelling that `atob` reads; nil for anything else.
    static func fromAnyBase64(_ text: String) -> [UInt8]? {
        let written = text.utf8.filter { byte in !isBlank(byte) }
        return decoded(written.count % 4 == 0 ? withoutPadding(written) : written, symbols)
    }

    /// The bytes of base64url without padding, in its only spelling.
    static func fromBase64URL(_ text: String) -> [UInt8]? {
        let written = Array(text.utf8)
        guard let bytes = decoded(written, urlSymbols), encoded(bytes, urlSymbols) == written else { return nil }
        return bytes
    }

    /// Base64url without padding.
    static func base64URL(_ bytes: [UInt8]) -> String {
        String(decoding: encoded(bytes, urlSymbols), as: UTF8.self)
    }

    /// Base64.
    static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: padded(bytes), as: UTF8.self)
    }

    /// The bytes of lower-case hex.
    static func fromHex(_ text: String) -> [UInt8]? {
        let written = Array(text.utf8)
        guard written.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(written.count / 2)
        for at in stride(from: 0, to: written.count, by: 2) {
            guard let high = digits.firstIndex(of: written[at]), let low = digits.firstIndex(of: written[at + 1]) else {
                return nil
            }
            bytes.append(UInt8(high * 16 + low))
        }
        return bytes
    }

    /// Lower-case hex.
    static func hex(_ bytes: [UInt8]) -> String {
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            written.append(digits[Int(byte >> 4)])
            written.append(digits[Int(byte & 15)])
        }
        return String(decoding: written, as: UTF8.self)
    }

    /// So many random bytes of the system, in hex.
    static func randomHex(_ count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        for _ in 0..<count {
            bytes.append(UInt8.random(in: 0...255, using: &generator))
        }
        return hex(bytes)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0c || byte == 0x0d
    }

    private static func withoutPadding(_ written: [UInt8]) -> [UInt8] {
        var kept = written
        for _ in 0..<2 where kept.last == padding {
            kept.removeLast()
        }
        return kept
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        var written = encoded(bytes, symbols)
        while written.count % 4 != 0 {
            written.append(padding)
        }
        return written
    }

    private static func encoded(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count * 4 / 3 + 3)
        var held: UInt32 = 0
        var count = 0
        for byte in bytes {
            held = (held << 8) | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                written.append(alphabet[Int((held >> UInt32(count)) & 63)])
            }
            held &= 63
        }
        if count > 0 {
            written.append(alphabet[Int((held << UInt32(6 - count)) & 63)])
        }
        return written
    }

    /// What symbols without padding stand for, whatever their last bits are.
    private static func decoded(_ written: [UInt8], _ alphabet: [UInt8]) -> [UInt8]? {
        guard written.count % 4 != 1 else { return nil }
        var values = [UInt8](repeating: 255, count: 256)
        for (value, symbol) in alphabet.enumerated() {
            values[Int(symbol)] = UInt8(value)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(written.count * 3 / 4)
        var held: UInt32 = 0
        var count = 0
        for symbol in written {
            let value = values[Int(symbol)]
            guard value != 255 else { return nil }
            held = (held << 6) | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8((held >> UInt32(count)) & 255))
            }
            held &= 255
        }
        return bytes
    }
}
