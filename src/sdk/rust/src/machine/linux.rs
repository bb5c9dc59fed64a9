//! Reads a machine with Linux. The serial numbers of board and product are only readable for root. In a container nothing is read:
//! its files come from an image, and its disks and addresses are those of the host.

use std::fs;
use std::path::Path;

use super::reading::Reading;
use super::shared_values::is_shared;
use crate::text::trim;

/// Reads the machine whose files begin at this path.
pub(crate) fn read(root: &Path) -> Reading {
    let files = Files { root };
    let os = files.text("etc/machine-id").or_else(|| files.text("var/lib/dbus/machine-id"));
    let is_empty = os.as_deref().map_or(false, |os| trim(os).is_empty());
    if is_empty || files.is_container() {
        return Reading::default();
    }
    let firmware = |name: &str| files.text(&format!("sys/class/dmi/id/{name}"));
    Reading::new(
        vec![os.clone()],
        [
            ("os", os),
            ("uuid", firmware("product_uuid")),
            (
                "product",
                firmware("product_serial").or_else(|| files.text("sys/firmware/devicetree/base/serial-number")),
            ),
            ("board", firmware("board_serial")),
            ("disk", files.disk()),
            ("mac", files.mac()),
        ],
    )
}

struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    fn text(&self, path: &str) -> Option<String> {
        fs::read(self.at(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        if self.root.as_os_str().is_empty() { Path::new("/") } else { self.root }.join(path)
    }

    fn is_container(&self) -> bool {
        let marks = [".dockerenv", "run/.containerenv"];
        !self.names("var/run/secrets/kubernetes.io").is_empty() || marks.iter().any(|mark| self.text(mark).is_some())
    }

    /// The id of the first disk that has one and is not removable.
    fn disk(&self) -> Option<String> {
        let names = self.names("sys/block");
        let kinds: [fn(&str) -> bool; 5] = [
            is_nvme,
            |name| is_lettered(name, "sd"),
            |name| is_lettered(name, "vd"),
            |name| is_lettered(name, "xvd"),
            |name| is_numbered(name, "mmcblk"),
        ];
        let known = kinds.iter().flat_map(|kind| names.iter().filter(move |name| kind(name)));
        let found = known.filter_map(|name| self.disk_id(&format!("sys/block/{name}"))).next();
        found.or_else(|| self.names("dev/disk/by-id").into_iter().find(|id| is_disk_id(id)))
    }

    fn disk_id(&self, folder: &str) -> Option<String> {
        let is = |file: &str, expected: &str| {
            self.text(&format!("{folder}/{file}")).map_or(false, |text| trim(&text) == expected)
        };
        // A card in a reader is no part of the machine, and its reader does not call it removable.
        if is("removable", "1") || is("device/type", "SD") {
            return None;
        }
        let files = ["device/serial", "serial", "wwid", "device/wwid"].iter();
        let mut ids = files.filter_map(|file| self.text(&format!("{folder}/{file}")));
        ids.find(|id| !is_shared(id))
    }

    /// The address of the first network interface that is built in, whether it is connected or not: with the connected ones alone,
    /// a laptop would be another machine when its cable is pulled. Bridges, tunnels and the like have no device.
    fn mac(&self) -> Option<String> {
        let is_built_in = |name: &String| {
            let bus = self.text(&format!("sys/class/net/{name}/device/modalias"));
            bus.map_or(false, |bus| !bus.starts_with("usb:"))
        };
        let names = self.names("sys/class/net").into_iter().filter(is_built_in);
        let mut addresses = names.filter_map(|name| self.text(&format!("sys/class/net/{name}/address")));
        addresses.find(|address| !is_shared(address))
    }
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).map_or(false, |rest| !rest.is_empty() && rest.bytes().all(|one| one.is_ascii_digit()))
}

fn is_lettered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).map_or(false, |rest| !rest.is_empty() && rest.bytes().all(|one| one.is_ascii_lowercase()))
}

/// A namespace of a disk, such as `nvme0n1`.
fn is_nvme(name: &str) -> bool {
    let parts = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n'));
    parts.map_or(false, |(disk, namespace)| is_numbered(disk, "") && is_numbered(namespace, ""))
}

/// The name of a whole disk in `/dev/disk/by-id`.
fn is_disk_id(id: &str) -> bool {
    let is_part = id.rsplit_once("-part").map_or(false, |(_, number)| is_numbered(number, ""));
    let kinds = ["nvme-", "ata-", "scsi-", "wwn-", "mmc-", "virtio-"];
    kinds.iter().any(|kind| id.starts_with(kind)) && !is_part && !id.contains("_DVD")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(files: &[(&str, &str)]) -> (std::path::PathBuf, Reading) {
        let root = std::env::temp_dir().join(format!("keyledger-{}", crate::text::bytes::random_hex(8)));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let reading = read(&root);
        (root, reading)
    }

    #[test]
    fn reads_the_parts_that_are_built_in() {
        let (root, reading) = written(&[
            ("etc/machine-id", "5d41402abc4b2a76b9719d911017c592\n"),
            ("sys/class/dmi/id/board_serial", "To be filled by O.E.M.\n"),
            ("sys/block/sda/removable", "1\n"),
            ("sys/block/sda/serial", "STICK1"),
            ("sys/block/nvme0n1/serial", "S4EVNX0M\n"),
            ("sys/block/nvme0n1p1/serial", "PART"),
            ("sys/class/net/docker0/address", "52:54:00:12:34:56"),
            ("sys/class/net/eth0/address", "3c:22:fb:01:02:03\n"),
            ("sys/class/net/eth0/device/modalias", "pci:v8086"),
            ("sys/class/net/dock0/address", "3c:22:fb:09:09:09"),
            ("sys/class/net/dock0/device/modalias", "usb:v0bda"),
        ]);
        fs::remove_dir_all(root).unwrap();
        let part =
            |name: &str| reading.components.iter().find(|(one, _)| one == name).and_then(|(_, value)| value.clone());
        assert_eq!(part("disk").as_deref(), Some("S4EVNX0M\n"));
        assert_eq!(part("mac").as_deref(), Some("3c:22:fb:01:02:03\n"));
        let place = Place::new("acme", "editor").unwrap();
        let names: Vec<String> = reading.identity_in(&place).components.into_keys().collect();
        assert_eq!(names, ["disk", "mac", "os"]);
    }

    #[test]
    fn containers_say_nothing() {
        let (root, reading) = written(&[("etc/machine-id", "5d41402abc4b2a76b9719d911017c592\n"), (".dockerenv", "")]);
        fs::remove_dir_all(root).unwrap();
        assert!(reading.machine.is_empty() && reading.components.is_empty());
    }

    use crate::place::Place;
}
