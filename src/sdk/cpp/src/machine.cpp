#include "machine.hpp"

#include <algorithm>
#include <set>

#include "signature.hpp"
#include "unicode.hpp"

namespace keyledger {
namespace {

/** Whole values that many machines have in common, in the form of `plain_value`. */
constexpr std::string_view shared_values[] = {
#include "shared-values.inc"
};

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/** MAC addresses that software has chosen, such as 02:42:ac:11:00:02 of Docker, and those of groups. */
bool is_chosen_address(const std::string& text) {
  if (text.size() != 17 || std::string_view("048c").find(text[1]) != std::string_view::npos) return false;
  // The second character is any but these four, as the pattern of the reference says.
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at % 3 == 2 ? text[at] != ':' : at != 1 && !is_hex(text[at])) return false;
  }
  return true;
}

/** Whether a text ends with one of these names and digits. */
bool ends_with_number(const std::string& text, std::string_view name) {
  std::size_t end = text.size();
  while (end > 0 && is_digit(text[end - 1])) --end;
  return end < text.size() && end >= name.size() && text.compare(end - name.size(), name.size(), name) == 0;
}

bool has_shared_form(const std::string& text) {
  if (is_chosen_address(text) || text.rfind("00:50:56:c0:00:", 0) == 0 || text.rfind("00:1c:42:00:00:", 0) == 0) return true;
  // The disks of virtual machines: QEMU, Proxmox, Google Cloud.
  if (text.size() >= 7 && text.compare(text.size() - 7, 6, "qm0000") == 0 && is_digit(text.back())) return true;
  for (const char* name : {"drive-ide", "drive-sata", "drive-scsi", "drive-virtio", "persistent-disk-"}) {
    if (ends_with_number(text, name)) return true;
  }
  return false;
}

std::string hash_of(const place& at, const std::string& name, const std::vector<std::string>& values) {
  std::vector<json> parts = {"keyledger device", at.tenant_id, at.product_id, name};
  for (const auto& value : values) parts.emplace_back(plain_value(value));
  return to_base64url(sha256(json::array(std::move(parts)).dump()));
}

}  // namespace

std::string plain_value(const std::string& value) {
  std::string text = value;
  text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
  return lower(trimmed(text));
}

bool is_shared(const std::string& value) {
  const std::string text = plain_value(value);
  std::set<char> characters;
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || is_digit(c)) characters.insert(c);
  }
  return characters.size() < 2 || std::find(std::begin(shared_values), std::end(shared_values), text) != std::end(shared_values) || has_shared_form(text);
}

device_identity identity_of(const place& at, const machine_reading& reading) {
  device_identity made;
  for (const auto& [name, one] : reading.components) {
    if (one && !is_shared(*one)) made.components[name] = hash_of(at, name, {*one});
  }
  std::vector<std::string> telling;
  for (const auto& one : reading.machine) {
    // While a part cannot be read there is no hash: another one would stand for another machine.
    if (!one) return made;
    if (!is_shared(*one)) telling.push_back(*one);
  }
  if (!telling.empty()) made.machine_hash = hash_of(at, "machine", telling);
  return made;
}

device_identity identify_device(const std::string& tenant_id, const std::string& product_id) {
  try {
    return identity_of({tenant_id, product_id}, read_machine());
  } catch (...) {
    return {};
  }
}

}  // namespace keyledger
