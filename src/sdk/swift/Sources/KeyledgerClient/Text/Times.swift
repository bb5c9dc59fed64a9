/// Times as they are signed and sent: Unix seconds inside.
enum Times {
    /// A day in milliseconds: the longest pause that a server may ask for.
    private static let dayMs: Int64 = 86_400_000
    private static let form = Array("dddd-dd-ddTdd:dd:ddZ".utf8)
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The seconds of a time in RFC 3339, in UTC and whole seconds; nil for any other text.
    static func seconds(of text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == form.count else { return nil }
        for (expected, byte) in zip(form, bytes) {
            let fits = expected == UInt8(ascii: "d") ? JavaScriptText.isDigit(byte) : expected == byte
            guard fits else { return nil }
        }
        let year = part(bytes, 0, 4)
        let month = part(bytes, 5, 7)
        let day = part(bytes, 8, 10)
        let hour = part(bytes, 11, 13)
        let minute = part(bytes, 14, 16)
        let second = part(bytes, 17, 19)
        // As in JavaScript: any month has 31 days, and a day ends with 24:00:00.
        guard (1...12).contains(month), (1...31).contains(day), minute <= 59, second <= 59 else { return nil }
        guard hour < 24 || (hour == 24 && minute + second == 0) else { return nil }
        return unix(year, month, day) + hour * 3600 + minute * 60 + second
    }

    /// The time in RFC 3339, as JavaScript prints it; years beyond 9999 are cut off.
    static func iso(_ seconds: Int64) -> String {
        let shown = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let days = quotient(shown, 86_400)
        let ofDay = shown - days * 86_400
        let on = date(of: days)
        let day = [padded(on.year, 4), padded(on.month, 2), padded(on.day, 2)].joined(separator: "-")
        let clock = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map { part in padded(part, 2) }.joined(separator: ":")
        return "\(day)T\(clock).000Z"
    }

    /// Reads Retry-After: seconds or a date. Milliseconds from now, at most a day; nil when it is neither.
    static func retryAfterMs(_ header: String, nowMs: Int64) -> Int64? {
        let text = JavaScriptText.trimmed(header)
        if let seconds = number(Array(text.utf8), 999_999_999), text.utf8.count < 10 {
            return min(seconds * 1000, dayMs)
        }
        guard let date = httpDate(text) else { return nil }
        let now = min(max(nowMs, -Json.most), Json.most)
        return min(max(date * 1000 - now, 0), dayMs)
    }

    /// The seconds of a date of HTTP in one of its three forms.
    private static func httpDate(_ text: String) -> Int64? {
        let separators = Array(" ,-".utf8)
        let parts = text.utf8.split { byte in separators.contains(byte) }.map { part in Array(part) }
        let dated: (day: [UInt8], month: [UInt8], year: [UInt8], time: [UInt8])
        if parts.count == 6, parts[5] == Array("GMT".utf8) {
            dated = (day: parts[1], month: parts[2], year: parts[3], time: parts[4])
        } else if parts.count == 5 {
            dated = (day: parts[2], month: parts[1], year: parts[4], time: parts[3])
        } else {
            return nil
        }
        guard let month = months.firstIndex(where: { name in Array(name.utf8) == dated.month }) else { return nil }
        guard let written = number(dated.year, 9999), let day = number(dated.day, 31) else { return nil }
        let year = dated.year.count == 2 ? written + (written < 50 ? 2000 : 1900) : written
        let clock = dated.time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { part in number(Array(part), 59) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour <= 23 else {
            return nil
        }
        return unix(year, Int64(month) + 1, max(day, 1)) + hour * 3600 + minute * 60 + second
    }

    /// Digits that say no more than this.
    private static func number(_ digits: [UInt8], _ most: Int64) -> Int64? {
        guard (1...18).contains(digits.count), digits.allSatisfy(JavaScriptText.isDigit) else { return nil }
        let value = part(digits, 0, digits.count)
        return value <= most ? value : nil
    }

    private static func part(_ bytes: [UInt8], _ from: Int, _ to: Int) -> Int64 {
        var value: Int64 = 0
        for byte in bytes[from..<to] {
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    private static func padded(_ value: Int64, _ length: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, length - digits.utf8.count)) + digits
    }

    /// Divides with the remainder that is not negative.
    private static func quotient(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    /// The seconds of a day's beginning, also in the year 0.
    private static func unix(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = quotient(shifted, 400)
        let ofEra = shifted - era * 400
        let fromMarch = month > 2 ? month - 3 : month + 9
        let ofYear = (153 * fromMarch + 2) / 5 + day - 1
        let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
        return days * 86_400
    }

    /// Year, month and day of so many days after the first of 1970.
    private static func date(of days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = quotient(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let fromMarch = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * fromMarch + 2) / 5 + 1
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        return (year: era * 400 + year + (month <= 2 ? 1 : 0), month: month, day: day)
    }
}
