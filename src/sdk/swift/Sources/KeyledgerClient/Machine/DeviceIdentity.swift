/// What an app says of its device, as hashes. A device that says the same again keeps its seat, whatever its name.
public struct DeviceIdentity: Equatable, Sendable {
    /// A hash of an id of the machine: 16 to 128 of `A–Z a–z 0–9 + / = _ -`.
    public var machineHash: String?
    /// Hashes of up to 8 components in the same form, by names such as `board`, `disk` and `mac`: a device whose machine hash
    /// has changed is recognized by most of them.
    public var components: [String: String]

    /// With what the app knows of its device.
    public init(machineHash: String? = nil, components: [String: String] = [:]) {
        self.machineHash = machineHash
        self.components = components
    }

    /// Reads the ids of the operating system, firmware, board and disk, and a MAC address, on Linux and macOS. Only hashes are
    /// returned, which also depend on the product. What cannot be read, or is the same on many machines, is left out; in containers and
    /// on other systems nothing is left, and no id is made up. It is the same at each call, as long as the machine has the same parts.
    ///
    /// ```swift
    /// let identity = DeviceIdentity.ofThisMachine(place)
    /// ```
    public static func ofThisMachine(_ place: Place) -> DeviceIdentity {
        #if os(Linux)
        return LinuxMachine(root: "/").reading().identity(in: place)
        #elseif os(macOS)
        return MacMachine.reading().identity(in: place)
        #else
        return DeviceIdentity()
        #endif
    }

    /// What of it is a hash; nil when nothing is.
    var usable: SignedMachine? {
        var machine = SignedMachine()
        if let machineHash, DeviceIdentity.isHash(machineHash) {
            machine.hash = machineHash
        }
        machine.components = components.filter { component in DeviceIdentity.isHash(component.value) }
        return machine.hash == nil && machine.components.isEmpty ? nil : machine
    }

    private static func isHash(_ value: String) -> Bool {
        let more = Array("+/=_-".utf8)
        guard (16...128).contains(value.utf8.count) else { return false }
        return value.utf8.allSatisfy { byte in
            JavaScriptText.isDigit(byte) || JavaScriptText.isLowerLetter(byte) || JavaScriptText.isUpperLetter(byte)
                || more.contains(byte)
        }
    }
}
