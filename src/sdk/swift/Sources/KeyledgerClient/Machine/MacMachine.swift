#if os(macOS)
import Darwin
import Foundation
import IOKit

/// Reads a Mac. Its first interface is built in; others come and go with docks.
enum MacMachine {
    /// What the machine says of itself.
    static func reading() -> Reading {
        let uuid = property("IOPlatformUUID")
        return Reading(
            machine: [uuid],
            components: [
                Reading.Component(name: "uuid", value: uuid),
                Reading.Component(name: "product", value: property("IOPlatformSerialNumber")),
                Reading.Component(name: "mac", value: mac()),
            ]
        )
    }

    private static func property(_ name: String) -> String? {
        let service = IOServiceGetMatchingService(kIOMainPortDefault, IOServiceMatching("IOPlatformExpertDevice"))
        guard service != 0 else { return nil }
        defer { IOObjectRelease(service) }
        let value = IORegistryEntryCreateCFProperty(service, name as CFString, kCFAllocatorDefault, 0)
        return value?.takeRetainedValue() as? String
    }

    /// The address of the first interface. While it has no address of a network, other clients do not list it.
    private static func mac() -> String? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var hardware: String?
        var hasAddress = false
        var next = first
        while let one = next {
            next = one.pointee.ifa_next
            guard String(cString: one.pointee.ifa_name) == "en0", let address = one.pointee.ifa_addr else { continue }
            let family = Int32(address.pointee.sa_family)
            if family == AF_INET || family == AF_INET6 {
                hasAddress = true
            } else if family == AF_LINK {
                hardware = hardwareAddress(UnsafeRawPointer(address), length: Int(address.pointee.sa_len))
            }
        }
        return hasAddress ? hardware : nil
    }

    /// Six bytes after the name in a `sockaddr_dl`, whose sixth byte is the length of the name, and whose seventh that of the address.
    private static func hardwareAddress(_ address: UnsafeRawPointer, length: Int) -> String? {
        guard length >= 8 else { return nil }
        let start = 8 + Int(address.load(fromByteOffset: 5, as: UInt8.self))
        guard address.load(fromByteOffset: 6, as: UInt8.self) == 6, start + 6 <= length else { return nil }
        let pairs = (0..<6).map { place in Bytes.hex([address.load(fromByteOffset: start + place, as: UInt8.self)]) }
        return pairs.joined(separator: ":")
    }
}
#endif
