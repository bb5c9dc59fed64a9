//! Serial numbers, ids and addresses that many machines have in common. The list is that of all clients, which the vectors hold.

use crate::text::trim;

const VALUES: &[&str] = &[
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
];

/// Firmware and tools write the same value in different cases, and end it with spaces, a line or a zero byte.
pub(crate) fn plain(value: &str) -> String {
    trim(&value.replace('\0', "")).to_lowercase()
}

/// Whether a value tells nothing about a machine, because many have it, or it is one character over and over.
pub(crate) fn is_shared(value: &str) -> bool {
    let text = plain(value);
    let mut telling = text.bytes().filter(|one| one.is_ascii_lowercase() || one.is_ascii_digit());
    let first = telling.next();
    let is_one_character = telling.all(|one| Some(one) == first);
    is_one_character || VALUES.contains(&text.as_str()) || is_chosen_address(&text) || is_virtual(&text)
}

/// MAC addresses that software has chosen, and those of groups.
fn is_chosen_address(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    let pairs: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == b':').collect();
    let is_address =
        pairs.len() == 6 && pairs[1..].iter().all(|pair| pair.len() == 2 && pair.iter().all(|byte| is_hex(*byte)));
    // The second character may be any, also one that is no hex.
    let mut first = text.split(':').next().unwrap_or_default().chars();
    match (first.next(), first.next(), first.next()) {
        (Some('0'..='9' | 'a'..='f'), Some(second), None) => is_address && !matches!(second, '0' | '4' | '8' | 'c'),
        _ => false,
    }
}

/// The adapters of a host for its virtual machines, and their disks.
fn is_virtual(text: &str) -> bool {
    let without_number = text.trim_end_matches(|one: char| one.is_ascii_digit());
    let is_numbered = without_number.len() < text.len();
    let drives = ["drive-ide", "drive-sata", "drive-scsi", "drive-virtio", "persistent-disk-"];
    let is_disk = is_numbered && drives.iter().any(|name| without_number.ends_with(name));
    let is_qemu = is_numbered && text[..text.len() - 1].ends_with("qm0000");
    text.starts_with("00:50:56:c0:00:") || text.starts_with("00:1c:42:00:00:") || is_disk || is_qemu
}
