//! Reads what tells a machine from others.

pub(crate) mod linux;
pub(crate) mod macos;
pub(crate) mod reading;
pub(crate) mod shared_values;
pub(crate) mod windows;

use std::collections::BTreeMap;

use crate::place::Place;
use crate::signed::device::Machine;
use reading::Reading;

/// What an app says of its device, as hashes. A device that says the same again keeps its seat, whatever its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceIdentity {
    /// A hash of an id of the machine: 16 to 128 of `A–Z a–z 0–9 + / = _ -`.
    pub machine_hash: Option<String>,
    /// Hashes of up to 8 components in the same form, by names such as `board`, `disk` and `mac`: a device whose machine hash
    /// has changed is recognized by most of them.
    pub components: BTreeMap<String, String>,
}

impl DeviceIdentity {
    /// What of it is a hash; none when nothing is.
    pub(crate) fn usable(self) -> Option<Machine> {
        let hash = self.machine_hash.filter(|hash| is_hash(hash));
        let components: BTreeMap<_, _> = self.components.into_iter().filter(|(_, hash)| is_hash(hash)).collect();
        (hash.is_some() || !components.is_empty()).then_some(Machine { hash, components })
    }
}

/// Reads the ids of the operating system, firmware, board and disk, and a MAC address, on Linux, macOS and Windows. Only hashes are
/// returned, which also depend on the product. What cannot be read, or is the same on many machines, is left out; in containers and
/// on other systems nothing is left, and no id is made up. It is the same at each call, as long as the machine has the same parts.
///
/// ```
/// use keyledger_client::{identify_machine, Place};
///
/// let place = Place::new("acme", "editor")?;
/// assert_eq!(identify_machine(&place), identify_machine(&place));
/// # Ok::<(), keyledger_client::NotAnId>(())
/// ```
#[must_use]
pub fn identify_machine(place: &Place) -> DeviceIdentity {
    let reading = match std::env::consts::OS {
        "linux" => linux::read("".as_ref()),
        "macos" => macos::read(),
        "windows" => windows::read(),
        _ => Reading::default(),
    };
    reading.identity_in(place)
}

fn is_hash(value: &str) -> bool {
    let is_of_hash = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'+' | b'/' | b'=' | b'_' | b'-');
    (16..=128).contains(&value.len()) && value.bytes().all(is_of_hash)
}
