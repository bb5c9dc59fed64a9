//! Reads a machine with Windows. A copied installation has the same MachineGuid, so the UUID of the firmware belongs to the machine
//! as well; while PowerShell does not answer, the machine has no hash rather than another one.

use super::reading::Reading;
use crate::programs::{in_system32, printed_by};

/// Prints a line for each value that there is. A serial number is that of the first disk that is not plugged in by USB.
const SCRIPT: &str = "$ErrorActionPreference = 'SilentlyContinue'; \
    $product = Get-CimInstance Win32_ComputerSystemProduct; \
    'uuid=' + $product.UUID; \
    'product=' + $product.IdentifyingNumber; \
    'board=' + (Get-CimInstance Win32_BaseBoard).SerialNumber; \
    $disks = Get-CimInstance Win32_DiskDrive | Where-Object { $_.InterfaceType -ne 'USB' } | Sort-Object Index; \
    'disk=' + ($disks | Select-Object -First 1).SerialNumber; \
    $cards = Get-CimInstance -Namespace root/StandardCimv2 MSFT_NetAdapter | Where-Object { $_.PnPDeviceID -match '^(PCI|VMBUS)' }; \
    'mac=' + ($cards | Sort-Object PermanentAddress | Select-Object -First 1).PermanentAddress";

/// Reads the machine that this process runs on.
pub(super) fn read() -> Reading {
    let registered = printed_by(
        &in_system32("reg.exe"),
        &["query", r"HKLM\SOFTWARE\Microsoft\Cryptography", "/v", "MachineGuid", "/reg:64"],
    );
    let printed = printed_by(
        &in_system32(r"WindowsPowerShell\v1.0\powershell.exe"),
        &["-NoProfile", "-NonInteractive", "-Command", SCRIPT],
    );
    from(&registered.unwrap_or_default(), &printed.unwrap_or_default())
}

/// What the registry and PowerShell have printed.
pub(crate) fn from(registered: &str, printed: &str) -> Reading {
    let mut words = registered.split_whitespace().skip_while(|word| *word != "MachineGuid");
    let os = match (words.next(), words.next(), words.next()) {
        (Some(_), Some("REG_SZ"), Some(os)) => Some(os.to_owned()),
        _ => None,
    };
    let line = |name: &str| {
        let mut values = printed.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        values.next().filter(|value| !value.is_empty()).map(str::to_owned)
    };
    let uuid = line("uuid");
    Reading::new(
        vec![os.clone(), uuid.clone()],
        [
            ("os", os),
            ("uuid", uuid),
            ("product", line("product")),
            ("board", line("board")),
            ("disk", line("disk")),
            ("mac", line("mac").and_then(|address| in_pairs(&address))),
        ],
    )
}

/// `3C22FB010203` with colons between its pairs.
fn in_pairs(address: &str) -> Option<String> {
    let characters: Vec<char> = address.chars().collect();
    let pairs: Vec<String> = characters.chunks_exact(2).map(|pair| pair.iter().collect()).collect();
    (!pairs.is_empty()).then(|| pairs.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_programs_print() {
        let registered =
            "\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    9f3c\r\n";
        let reading = from(registered, "uuid=4C4C\r\nproduct=\r\nboard=B1\r\ndisk=D1\r\nmac=3C22FB010203\r\n");
        let found: Vec<_> = reading.components.iter().map(|(_, value)| value.as_deref()).collect();
        assert_eq!(found, [Some("9f3c"), Some("4C4C"), None, Some("B1"), Some("D1"), Some("3C:22:FB:01:02:03")]);
    }
}
