/// The members of an object of JSON, in the order in which they came.
struct Record: Equatable, Sendable {
    struct Member: Equatable, Sendable {
        let name: String
        var value: Json
    }

    private(set) var members: [Member] = []
    private var places: [ExactText: Int] = [:]

    init() {}

    /// With the members that there are: a value that is nil leaves its member out.
    init(_ members: [(String, Json?)]) {
        for (name, value) in members {
            set(name, value)
        }
    }

    var count: Int { members.count }

    subscript(name: String) -> Json? {
        guard let place = places[ExactText(name)] else { return nil }
        return members[place].value
    }

    func has(_ name: String) -> Bool {
        places[ExactText(name)] != nil
    }

    /// Sets a member, at the place where it was. A value that is nil changes nothing.
    mutating func set(_ name: String, _ value: Json?) {
        guard let value else { return }
        let exact = ExactText(name)
        if let place = places[exact] {
            members[place].value = value
        } else {
            places[exact] = members.count
            members.append(Member(name: name, value: value))
        }
    }

    /// Sets all members of another record.
    mutating func add(_ other: Record) {
        for member in other.members {
            set(member.name, member.value)
        }
    }

    static func == (one: Record, other: Record) -> Bool {
        one.members == other.members
    }

    /// The members in the order of JavaScript, which puts whole numbers first.
    var entries: [Member] {
        var first: [(index: UInt64, member: Member)] = []
        var rest: [Member] = []
        for member in members {
            if let index = Record.index(of: member.name) {
                first.append((index: index, member: member))
            } else {
                rest.append(member)
            }
        }
        first.sort { one, other in one.index < other.index }
        return first.map { entry in entry.member } + rest
    }

    private static func index(of name: String) -> UInt64? {
        let digits = Array(name.utf8)
        let isPlain = digits.count == 1 || digits.first != UInt8(ascii: "0")
        guard isPlain, (1...10).contains(digits.count), digits.allSatisfy(JavaScriptText.isDigit) else { return nil }
        guard let index = UInt64(name), index < UInt64(UInt32.max) else { return nil }
        return index
    }
}

/// What a member is read as. A member that is missing or of another kind is nil.
extension Record {
    /// The member itself, but nil for null.
    func given(_ name: String) -> Json? {
        self[name].flatMap { value in value == Json.null ? nil : value }
    }

    func text(_ name: String) -> String? { self[name]?.asText }

    func field(_ name: String) -> String? { self[name]?.field }

    func filled(_ name: String) -> String? { self[name]?.filled }

    func seconds(_ name: String) -> Int64? { self[name]?.seconds }

    func safeInteger(_ name: String) -> Int64? { self[name]?.safeInteger }

    func flag(_ name: String) -> Bool? { self[name]?.asFlag }

    func record(_ name: String) -> Record? { self[name]?.asRecord }

    func list(_ name: String) -> [Json]? { self[name]?.asList }
}
