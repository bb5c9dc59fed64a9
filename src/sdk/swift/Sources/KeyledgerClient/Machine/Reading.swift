/// What a system says of its machine, and what is sent of that. A value that is nil could not be read.
struct Reading: Equatable {
    /// A part of the machine.
    struct Component: Equatable {
        let name: String
        let value: String?
    }

    /// Those values that together tell it from every other. The system has all of them.
    var machine: [String?] = []
    /// The parts of the machine.
    var components: [Component] = []

    /// What is sent: hashes that also depend on the product. While a part cannot be read, there is no machine hash.
    func identity(in place: Place) -> DeviceIdentity {
        var identity = DeviceIdentity()
        let readable = machine.compactMap { value in value }
        let telling = readable.filter { value in !SharedValues.isShared(value) }
        if readable.count == machine.count && !telling.isEmpty {
            identity.machineHash = hash("machine", telling, place)
        }
        for component in components {
            if let value = component.value, !SharedValues.isShared(value) {
                identity.components[component.name] = hash(component.name, [value], place)
            }
        }
        return identity
    }

    private func hash(_ name: String, _ values: [String], _ place: Place) -> String {
        let named = ["keyledger device", place.tenantID, place.productID, name]
        let all = named + values.map(SharedValues.plain)
        return Bytes.base64URL(Cryptography.sha256(Array(JsonWriter.write(Json.texts(all)).utf8)))
    }
}
