//! Reads a Mac. Its first interface is built in; others come and go with docks.

use super::reading::Reading;
use crate::programs::printed_by;

/// Reads the machine that this process runs on.
pub(super) fn read() -> Reading {
    let registry = printed_by("/usr/sbin/ioreg", &["-rd1", "-c", "IOPlatformExpertDevice"]);
    let interface = printed_by("/sbin/ifconfig", &["en0"]);
    from(&registry.unwrap_or_default(), &interface.unwrap_or_default())
}

/// What the registry of devices and the first interface have printed.
pub(crate) fn from(registry: &str, interface: &str) -> Reading {
    let property = |name: &str| {
        let (_, rest) = registry.split_once(&format!("\"{name}\" = \""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let uuid = property("IOPlatformUUID");
    Reading::new(
        vec![uuid.clone()],
        [("uuid", uuid), ("product", property("IOPlatformSerialNumber")), ("mac", mac_in(interface))],
    )
}

/// An interface without an address of a network is not listed by other clients.
fn mac_in(interface: &str) -> Option<String> {
    let mut lines = interface.lines().map(str::trim_start);
    let has_address = lines.clone().any(|line| line.starts_with("inet ") || line.starts_with("inet6 "));
    let address = lines.find_map(|line| line.strip_prefix("ether "))?;
    has_address.then(|| address.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_programs_print() {
        let registry = "{\n  \"IOPlatformSerialNumber\" = \"C02X\"\n  \"IOPlatformUUID\" = \"4F1C\"\n}";
        let reading = from(registry, "en0: flags\n\tether 3c:22:fb:01:02:03 \n\tinet 10.0.0.2 netmask\n");
        let found: Vec<_> = reading.components.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        assert_eq!(found, [("uuid", Some("4F1C")), ("product", Some("C02X")), ("mac", Some("3c:22:fb:01:02:03"))]);
        assert_eq!(mac_in("en0: flags\n\tether 3c:22:fb:01:02:03\n"), None);
    }
}
