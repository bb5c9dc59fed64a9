/// Whole numbers of doubles that may be anything.
enum Whole {
    /// The whole part, or the nearest whole number that there is; 0 for what is no number.
    static func of(_ number: Double) -> Int64 {
        if number.isNaN { return 0 }
        if number >= 9_223_372_036_854_775_807 { return Int64.max }
        if number <= -9_223_372_036_854_775_808 { return Int64.min }
        return Int64(number)
    }
}
