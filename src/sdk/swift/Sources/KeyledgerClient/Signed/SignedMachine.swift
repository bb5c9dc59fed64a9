/// The machine that a lease was made for, or the one that the app runs on, as the app has named it.
struct SignedMachine: Equatable, Sendable {
    var hash: String?
    var components: [String: String] = [:]

    /// By the machine hash, else by more than half of the components that both sides have, and at least two.
    func isSame(as other: SignedMachine) -> Bool {
        if let hash, let second = other.hash, hash.isExactly(second) { return true }
        let both = shared(with: other)
        let equal = both.filter { pair in pair.one.isExactly(pair.other) }.count
        return equal >= max(both.count / 2 + 1, 2)
    }

    /// Whether both say enough to be told apart, and are not the same: a machine that cannot be read is no other one.
    func isOther(than other: SignedMachine) -> Bool {
        let haveHashes = hash != nil && other.hash != nil
        return !isSame(as: other) && (haveHashes || shared(with: other).count >= 2)
    }

    /// Reads the machine in a lease.
    static func from(_ claims: Json) throws -> SignedMachine {
        guard let record = claims.asRecord else { throw Doubt.malformed }
        var machine = SignedMachine()
        if let hash = record.given("machine_hash") {
            guard let text = hash.asText else { throw Doubt.malformed }
            machine.hash = text
        }
        if let parts = record["components"] {
            guard let named = parts.asRecord else { throw Doubt.malformed }
            for part in named.members {
                guard let hash = part.value.filled else { throw Doubt.malformed }
                machine.components[part.name] = hash
            }
        }
        return machine
    }

    private func shared(with other: SignedMachine) -> [(one: String, other: String)] {
        var both: [(one: String, other: String)] = []
        for (name, value) in components {
            if let second = other.components[name] {
                both.append((one: value, other: second))
            }
        }
        return both
    }
}
