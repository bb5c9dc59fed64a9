import Foundation

/// Reads a machine with Linux. The serial numbers of board and product are only readable for root. In a container nothing is read:
/// its files come from an image, and its disks and addresses are those of the host.
struct LinuxMachine {
    /// Where the files of the machine begin, with a slash at the end.
    let root: String

    /// What the machine says of itself.
    func reading() -> Reading {
        let os = text("etc/machine-id") ?? text("var/lib/dbus/machine-id")
        let isEmpty = os.map { os in JavaScriptText.trimmed(os).isEmpty } ?? false
        if isEmpty || isContainer { return Reading() }
        let product = firmware("product_serial") ?? text("sys/firmware/devicetree/base/serial-number")
        return Reading(
            machine: [os],
            components: [
                Reading.Component(name: "os", value: os),
                Reading.Component(name: "uuid", value: firmware("product_uuid")),
                Reading.Component(name: "product", value: product),
                Reading.Component(name: "board", value: firmware("board_serial")),
                Reading.Component(name: "disk", value: disk()),
                Reading.Component(name: "mac", value: mac()),
            ]
        )
    }

    private var isContainer: Bool {
        !names("var/run/secrets/kubernetes.io").isEmpty || text(".dockerenv") != nil || text("run/.containerenv") != nil
    }

    private func firmware(_ name: String) -> String? {
        text("sys/class/dmi/id/\(name)")
    }

    /// The id of the first disk that has one and is not removable.
    private func disk() -> String? {
        let disks = names("sys/block")
        let kinds: [(String) -> Bool] = [
            LinuxMachine.isNvme,
            { name in LinuxMachine.isLettered(name, "sd") },
            { name in LinuxMachine.isLettered(name, "vd") },
            { name in LinuxMachine.isLettered(name, "xvd") },
            { name in LinuxMachine.isNumbered(name, "mmcblk") },
        ]
        for isOfKind in kinds {
            for name in disks where isOfKind(name) {
                if let id = diskID("sys/block/\(name)") { return id }
            }
        }
        return names("dev/disk/by-id").first(where: LinuxMachine.isDiskID)
    }

    private func diskID(_ folder: String) -> String? {
        // A card in a reader is no part of the machine, and its reader does not call it removable.
        if says("\(folder)/removable", "1") || says("\(folder)/device/type", "SD") { return nil }
        for file in ["device/serial", "serial", "wwid", "device/wwid"] {
            if let id = text("\(folder)/\(file)"), !SharedValues.isShared(id) { return id }
        }
        return nil
    }

    /// The address of the first network interface that is built in, whether it is connected or not: with the connected ones alone,
    /// a laptop would be another machine when its cable is pulled. Bridges, tunnels and the like have no device.
    private func mac() -> String? {
        for name in names("sys/class/net") {
            guard let bus = text("sys/class/net/\(name)/device/modalias"), !bus.begins(with: "usb:") else { continue }
            if let address = text("sys/class/net/\(name)/address"), !SharedValues.isShared(address) { return address }
        }
        return nil
    }

    private func says(_ path: String, _ expected: String) -> Bool {
        text(path).map { text in JavaScriptText.trimmed(text).isExactly(expected) } ?? false
    }

    private func text(_ path: String) -> String? {
        guard let bytes = try? FileBytes.read(root + path) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func names(_ folder: String) -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: root + folder)
        return (found ?? []).sorted()
    }

    /// Whether a name is a prefix and digits.
    private static func isNumbered(_ name: String, _ prefix: String) -> Bool {
        guard name.begins(with: prefix) else { return false }
        let rest = name.utf8.dropFirst(prefix.utf8.count)
        return !rest.isEmpty && rest.allSatisfy(JavaScriptText.isDigit)
    }

    /// Whether a name is a prefix and small letters.
    private static func isLettered(_ name: String, _ prefix: String) -> Bool {
        guard name.begins(with: prefix) else { return false }
        let rest = name.utf8.dropFirst(prefix.utf8.count)
        return !rest.isEmpty && rest.allSatisfy(JavaScriptText.isLowerLetter)
    }

    /// A namespace of a disk, such as `nvme0n1`.
    private static func isNvme(_ name: String) -> Bool {
        guard name.begins(with: "nvme") else { return false }
        let numbers = name.utf8.dropFirst(4).split(separator: UInt8(ascii: "n"), omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy { number in
            !number.isEmpty && number.allSatisfy(JavaScriptText.isDigit)
        }
    }

    /// The name of a whole disk in `/dev/disk/by-id`.
    private static func isDiskID(_ id: String) -> Bool {
        let kinds = ["nvme-", "ata-", "scsi-", "wwn-", "mmc-", "virtio-"]
        guard kinds.contains(where: { kind in id.begins(with: kind) }) else { return false }
        let bytes = Array(id.utf8)
        let digits = bytes.reversed().prefix(while: JavaScriptText.isDigit).count
        let isPart = digits > 0 && bytes.dropLast(digits).suffix(5).elementsEqual("-part".utf8)
        return !isPart && id.range(of: "_DVD") == nil
    }
}
