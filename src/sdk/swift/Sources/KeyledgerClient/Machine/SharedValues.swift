/// Serial numbers, ids and addresses that many machines have in common. The list is that of all clients, which the vectors hold.
enum SharedValues {
    private static let values: Set<String> = [
        // Placeholders of firmware.
        "to be filled by o.e.m.",
        "to be filled by oem",
        "o.e.m.",
        "oem",
        "default string",
        "default",
        "default_string",
        "none",
        "null",
        "n/a",
        "na",
        "unknown",
        "invalid",
        "standard",
        "not specified",
        "not available",
        "not applicable",
        "not provided",
        "no asset tag",
        "empty",
        "serial number",
        "serial",
        "system serial number",
        "base board serial number",
        "chassis serial number",
        "product serial number",
        "system product name",
        "123456789",
        "1234567890",
        "0123456789",
        "0123456789abcdef",
        // SMBIOS UUIDs of boards whose firmware has none, in both byte orders.
        "03000200-0400-0500-0006-000700080009",
        "00020003-0004-0005-0006-000700080009",
        "03020100-0504-0706-0809-0a0b0c0d0e0f",
        "00010203-0405-0607-0809-0a0b0c0d0e0f",
        "10000000-0000-8000-0040-000000000000",
        "12345678-1234-5678-90ab-cddeefaabbcc",
        "12345678-1234-1234-1234-123456789abc",
        "deadbeef-dead-beef-dead-beefdeadbeef",
        "fefefefe-fefe-fefe-fefe-fefefefefefe",
        // The machine-id of an image that has not been started yet.
        "uninitialized",
        // Adapters that software adds with the same address everywhere: modems and VPN clients.
        "00:53:45:00:00:00",
        "44:45:53:54:42:00",
        "50:50:54:50:30:30",
        "20:41:53:59:4e:ff",
        "00:05:9a:3c:7a:00",
        "00:09:0f:aa:00:01",
        "00:09:0f:fe:00:01",
    ]
    private static let drives = ["drive-ide", "drive-sata", "drive-scsi", "drive-virtio", "persistent-disk-"]

    /// Firmware and tools write the same value in different cases, and end it with spaces, a line or a zero byte.
    static func plain(_ value: String) -> String {
        let scalars = value.unicodeScalars.filter { scalar in scalar.value != 0 }
        return JavaScriptText.lower(JavaScriptText.trimmed(JavaScriptText.joined(scalars)))
    }

    /// Whether a value tells nothing about a machine, because many have it, or it is one character over and over.
    static func isShared(_ value: String) -> Bool {
        let text = plain(value)
        let telling = text.utf8.filter { byte in JavaScriptText.isLowerLetter(byte) || JavaScriptText.isDigit(byte) }
        let isOneCharacter = telling.allSatisfy { byte in byte == telling.first }
        return isOneCharacter || values.contains(text) || isChosenAddress(text) || isVirtual(text)
    }

    /// MAC addresses that software has chosen, and those of groups.
    private static func isChosenAddress(_ text: String) -> Bool {
        let pairs = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { pair in Array(pair) }
        guard pairs.count == 6 else { return false }
        guard pairs.dropFirst().allSatisfy({ pair in pair.count == 2 && pair.allSatisfy(isHex) }) else { return false }
        // The second character may be any, also one that is no hex.
        let first = Array(String(decoding: pairs[0], as: UTF8.self).unicodeScalars)
        guard first.count == 2, first[0].isASCII, isHex(UInt8(first[0].value)) else { return false }
        return first[1] != "0" && first[1] != "4" && first[1] != "8" && first[1] != "c"
    }

    /// The adapters of a host for its virtual machines, and their disks.
    private static func isVirtual(_ text: String) -> Bool {
        if text.begins(with: "00:50:56:c0:00:") || text.begins(with: "00:1c:42:00:00:") { return true }
        let bytes = Array(text.utf8)
        let digits = bytes.reversed().prefix(while: JavaScriptText.isDigit).count
        guard digits > 0 else { return false }
        let named = Array(bytes.dropLast(digits))
        if drives.contains(where: { name in ends(named, with: name) }) { return true }
        return ends(Array(bytes.dropLast()), with: "qm0000")
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        JavaScriptText.isDigit(byte) || (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f"))
    }

    private static func ends(_ bytes: [UInt8], with name: String) -> Bool {
        bytes.suffix(name.utf8.count).elementsEqual(name.utf8)
    }
}
