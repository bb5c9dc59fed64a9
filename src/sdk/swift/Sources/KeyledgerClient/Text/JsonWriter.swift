/// Writes JSON as `JSON.stringify` does.
enum JsonWriter {
    static func write(_ record: Record) -> String {
        write(.record(record))
    }

    static func write(_ value: Json) -> String {
        var text = ""
        write(value, to: &text)
        return text
    }

    private static func write(_ value: Json, to text: inout String) {
        switch value {
        case .null: text += "null"
        case .flag(let flag): text += flag ? "true" : "false"
        case .integer(let whole): text += String(whole)
        case .number(let number): text += written(number)
        case .text(let one): write(one, to: &text)
        case .list(let list): write(list, to: &text)
        case .record(let record): write(record, to: &text)
        }
    }

    private static func write(_ list: [Json], to text: inout String) {
        text += "["
        for (place, value) in list.enumerated() {
            if place > 0 { text += "," }
            write(value, to: &text)
        }
        text += "]"
    }

    private static func write(_ record: Record, to text: inout String) {
        text += "{"
        for (place, member) in record.members.enumerated() {
            if place > 0 { text += "," }
            write(member.name, to: &text)
            text += ":"
            write(member.value, to: &text)
        }
        text += "}"
    }

    /// A whole number without a point.
    private static func written(_ number: Double) -> String {
        guard number.isFinite else { return "null" }
        if let whole = Json.number(number).safeInteger { return String(whole) }
        return "\(number)"
    }

    private static func write(_ one: String, to text: inout String) {
        text.unicodeScalars.append("\"")
        for scalar in one.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{8}": text += "\\b"
            case "\u{c}": text += "\\f"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if scalar.value < 0x20 {
                    text += "\\u00" + Bytes.hex([UInt8(scalar.value)])
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        text.unicodeScalars.append("\"")
    }
}
