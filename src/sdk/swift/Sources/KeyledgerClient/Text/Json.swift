/// A value of JSON, as JavaScript reads it. Whole numbers are kept exactly.
enum Json: Equatable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([Json])
    case record(Record)

    /// The greatest whole number that a double holds exactly.
    static let most: Int64 = 9_007_199_254_740_991

    /// A list of texts.
    static func texts(_ texts: [String]) -> Json {
        .list(texts.map { text in .text(text) })
    }

    /// A record of texts, in the order of their names.
    static func texts(_ texts: [String: String]) -> Json {
        var record = Record()
        for name in texts.keys.sorted() {
            record.set(name, texts[name].map(Json.text))
        }
        return .record(record)
    }

    var asText: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    var asFlag: Bool? {
        if case .flag(let flag) = self { return flag }
        return nil
    }

    var asRecord: Record? {
        if case .record(let record) = self { return record }
        return nil
    }

    var asList: [Json]? {
        if case .list(let list) = self { return list }
        return nil
    }

    var asDouble: Double? {
        switch self {
        case .integer(let whole): return Double(whole)
        case .number(let number): return number
        case .null, .flag, .text, .list, .record: return nil
        }
    }

    /// Text that is not empty.
    var filled: String? {
        asText.flatMap { text in text.isEmpty ? nil : text }
    }

    /// Text that is not empty and does not hold the separator of signed strings.
    var field: String? {
        filled.flatMap { text in text.utf8.contains(UInt8(ascii: "|")) ? nil : text }
    }

    /// A whole number that a double holds exactly, as `Number.isSafeInteger` of JavaScript says.
    var safeInteger: Int64? {
        switch self {
        case .integer(let whole):
            return whole.magnitude <= UInt64(Json.most) ? whole : nil
        case .number(let number):
            guard number.magnitude <= Double(Json.most), number.rounded(.down) == number else { return nil }
            return Int64(number)
        case .null, .flag, .text, .list, .record:
            return nil
        }
    }

    /// A safe integer that is not negative: Unix seconds, mostly.
    var seconds: Int64? {
        safeInteger.flatMap { whole in whole >= 0 ? whole : nil }
    }

    /// Whether `===` of JavaScript says so of two values that were read apart; nil stands for undefined.
    static func isSame(_ one: Json?, _ other: Json?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        if let number = one.asDouble, let second = other.asDouble { return number == second }
        switch (one, other) {
        case (.null, .null): return true
        case (.text(let text), .text(let second)): return text.isExactly(second)
        case (.flag(let flag), .flag(let second)): return flag == second
        default: return false
        }
    }
}
