#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "machine.hpp"
#include "text.hpp"

namespace keyledger {
namespace {

/** What a file holds; nothing when it cannot be read. */
std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  if (file.bad() || text.bad()) return std::nullopt;
  return replaced(text.str());
}

/** The names in a folder, sorted; none when it cannot be read. */
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_container() {
  return read_file("/.dockerenv") || read_file("/run/.containerenv") || !names_in("/var/run/secrets/kubernetes.io").empty();
}

std::optional<std::string> disk_id(const std::string& folder) {
  const auto removable = read_file(folder + "/removable");
  const auto type = read_file(folder + "/device/type");
  // A card in a reader is no part of the machine, and its reader does not call it removable.
  if ((removable && trimmed(*removable) == "1") || (type && trimmed(*type) == "SD")) return std::nullopt;
  for (const char* file : {"/device/serial", "/serial", "/wwid", "/device/wwid"}) {
    auto id = read_file(folder + file);
    if (id && !is_shared(*id)) return id;
  }
  return std::nullopt;
}

/** Whether a name is a beginning and then only letters, or only digits; of `nvme`, digits with an `n` between them. */
bool is_disk(const std::string& name, const std::string& kind) {
  if (name.rfind(kind, 0) != 0 || name.size() == kind.size()) return false;
  const std::string rest = name.substr(kind.size());
  const auto is_all = [](const std::string& text, const char* of) { return !text.empty() && text.find_first_not_of(of) == std::string::npos; };
  if (kind == "nvme") {
    const std::size_t middle = rest.find('n');
    return middle != std::string::npos && is_all(rest.substr(0, middle), "0123456789") && is_all(rest.substr(middle + 1), "0123456789");
  }
  return is_all(rest, kind == "mmcblk" ? "0123456789" : "abcdefghijklmnopqrstuvwxyz");
}

/** The id of the first disk that has one and is not removable. */
std::optional<std::string> read_disk() {
  const auto disks = names_in("/sys/block");
  // Kinds of disks that stay in a machine, by the names that the kernel gives them.
  for (const char* kind : {"nvme", "sd", "vd", "xvd", "mmcblk"}) {
    for (const auto& name : disks) {
      if (!is_disk(name, kind)) continue;
      if (auto id = disk_id("/sys/block/" + name)) return id;
    }
  }
  for (const auto& id : names_in("/dev/disk/by-id")) {
    const std::size_t last = id.find_last_not_of("0123456789");
    const bool is_part = last != std::string::npos && last + 1 < id.size() && last >= 4 && id.compare(last - 4, 5, "-part") == 0;
    if (is_part || id.find("_DVD") != std::string::npos) continue;
    for (const char* kind : {"nvme-", "ata-", "scsi-", "wwn-", "mmc-", "virtio-"}) {
      if (id.rfind(kind, 0) == 0) return id;
    }
  }
  return std::nullopt;
}

/** The address of the first network interface that is built in, whether it is connected or not. */
std::optional<std::string> read_mac() {
  for (const auto& name : names_in("/sys/class/net")) {
    const std::string folder = "/sys/class/net/" + name;
    const auto bus = read_file(folder + "/device/modalias");
    if (!bus || bus->rfind("usb:", 0) == 0) continue;
    auto address = read_file(folder + "/address");
    if (address && !is_shared(*address)) return address;
  }
  return std::nullopt;
}

}  // namespace

machine_reading read_machine() {
#if !defined(__linux__)
  return {};
#else
  auto os = read_file("/etc/machine-id");
  if (!os) os = read_file("/var/lib/dbus/machine-id");
  // In a container the files come from an image, and the disks and addresses are those of the host.
  if ((os && trimmed(*os).empty()) || is_container()) return {};
  const std::string firmware = "/sys/class/dmi/id/";
  auto product = read_file(firmware + "product_serial");
  if (!product) product = read_file("/sys/firmware/devicetree/base/serial-number");
  return {{os},
          {{"os", os},
           {"uuid", read_file(firmware + "product_uuid")},
           {"product", product},
           {"board", read_file(firmware + "board_serial")},
           {"disk", read_disk()},
           {"mac", read_mac()}}};
#endif
}

}  // namespace keyledger
