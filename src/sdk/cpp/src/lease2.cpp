#include <algorithm>

#include "paseto.hpp"
#include "proof.hpp"

namespace keyledger {
namespace {

std::optional<std::int64_t> time_in(const json& value) { return value.is_text() ? seconds_from(value.text()) : std::nullopt; }

/** How many components both sides name, and how many of these are equal. */
std::pair<std::size_t, std::size_t> shared_by(const leased_device& one, const leased_device& other) {
  std::size_t both = 0;
  std::size_t equal = 0;
  for (const auto& [name, value] : one.components) {
    const auto same = other.components.find(name);
    if (same == other.components.end()) continue;
    ++both;
    if (same->second == value) ++equal;
  }
  return {both, equal};
}

/** @return false for what is no device */
bool read_device(const json& value, std::optional<leased_device>& into) {
  if (value.is(json::kind::undefined)) return true;
  if (!value.is_object()) return false;
  const json& hash = value["machine_hash"];
  const json& components = value["components"];
  if (!hash.is_nullish() && !hash.is_text()) return false;
  if (!components.is(json::kind::undefined) && !components.is_object()) return false;
  into.emplace();
  if (hash.is_text()) into->machine_hash = hash.text();
  for (const auto& [name, one] : components.members()) {
    if (!is_filled(one)) return false;
    into->components[name] = one.text();
  }
  return true;
}

/** An entitlement that is false is none, and of one with a value of another kind nothing is known. */
void read_entitlements(const json& value, proof& into) {
  for (const auto& [name, one] : value.members()) {
    const bool is_known = one.is_true() || one.is_number() || one.is_text();
    if (!is_known) continue;
    into.entitlements.push_back(name);
    if (one.is_number()) into.values[name] = one.number();
    if (one.is_text()) into.values[name] = one.text();
  }
}

std::optional<holder> holder_in(const json& value) {
  holder made;
  if (is_filled(value["name"])) made.name = value["name"].text();
  if (is_filled(value["email"])) made.email = value["email"].text();
  return made.name || made.email ? std::optional(made) : std::nullopt;
}

std::optional<file_claims> file_in(const json& claims) {
  if (!is_filled(claims["file"]) || !is_filled(claims["nonce"])) return std::nullopt;
  file_claims made{claims["file"].text(), claims["nonce"].text(), std::nullopt};
  if (claims["fence"].is_number()) made.fence = claims["fence"].number();
  return made;
}

std::optional<proof> lease_from(const claims_of& read) {
  const json& claims = read.claims;
  for (const char* name : {"license_id", "license_key_hash", "instance_id", "status"}) {
    if (!is_filled(claims[name])) return std::nullopt;
  }
  proof lease;
  lease.is = proof::kind::token;
  const auto issued_at = time_in(claims["iat"]);
  const auto not_before = time_in(claims["nbf"]);
  const auto expires_at = time_in(claims["exp"]);
  lease.license_expires_at = time_in(claims["license_expires_at"]);
  lease.updates_until = time_in(claims["updates_until"]);
  if (!issued_at || !not_before || !expires_at) return std::nullopt;
  if (!lease.license_expires_at && !claims["license_expires_at"].is(json::kind::null)) return std::nullopt;
  if (!lease.updates_until && !claims["updates_until"].is(json::kind::undefined)) return std::nullopt;
  if (!read_device(claims["device"], lease.device)) return std::nullopt;
  if (!claims["entitlements"].is_object() || !is_safe_integer(claims["serial"])) return std::nullopt;
  read_entitlements(claims["entitlements"], lease);
  lease.kid = read.kid;
  lease.license_key_hash = claims["license_key_hash"].text();
  lease.instance_id = claims["instance_id"].text();
  lease.status = claims["status"].text();
  lease.issued_at = *issued_at;
  lease.not_before = *not_before;
  lease.expires_at = *expires_at;
  lease.issued_to = holder_in(claims["holder"]);
  lease.serial = integer(claims["serial"]);
  lease.file = file_in(claims);
  lease.relay = read.relay;
  return lease;
}

}  // namespace

bool is_same_machine(const leased_device& one, const leased_device& other) {
  if (one.machine_hash && one.machine_hash == other.machine_hash) return true;
  const auto [both, equal] = shared_by(one, other);
  return equal >= std::max<std::size_t>(2, both / 2 + 1);
}

bool is_another_machine(const leased_device& one, const leased_device& other) {
  return !is_same_machine(one, other) && ((one.machine_hash && other.machine_hash) || shared_by(one, other).first >= 2);
}

found<proof> read_token(const std::string& token, const place& at, const key_map& keys) {
  auto read = read_lease_claims(token, at, keys);
  if (!read) return found<proof>::refused(read.doubt);
  auto lease = lease_from(*read.value);
  if (!lease) return found<proof>::refused("malformed");
  lease->stored = json::object();
  lease->stored.set("token", token);
  return found<proof>::good(std::move(*lease));
}

found<proof> verify_lease2(const std::string& token, const place& at, const holder_of& expected, const std::optional<leased_device>& device,
                           const key_map& keys, std::int64_t now) {
  auto read = read_token(token, at, keys);
  if (!read) return read;
  const proof& lease = *read.value;
  if (lease.license_key_hash != expected.license_key_hash) return found<proof>::refused("another_license");
  if (lease.instance_id != expected.instance_id) return found<proof>::refused("another_instance");
  if (device && lease.device && !is_same_machine(*lease.device, *device)) return found<proof>::refused("another_device");
  if (now < lease.not_before) return found<proof>::refused("not_yet");
  if (now > lease.expires_at) return found<proof>::refused("over");
  return read;
}

std::optional<withdrawn_list> read_withdrawn(const std::string& token, const place& at, const key_map& keys) {
  const auto read = read_statement(parse_token(token), assertion_of("withdrawn1", at), keys);
  if (!read) return std::nullopt;
  const json& claims = read.value->claims;
  const auto issued_at = time_in(claims["iat"]);
  if (!claims["files"].is(json::kind::array) || !claims["serial"].is_number() || !issued_at) return std::nullopt;
  withdrawn_list made{token, {}, claims["serial"].number(), *issued_at};
  for (const json& one : claims["files"].items()) {
    if (one.is_text()) made.files.push_back(one.text());
  }
  return made;
}

}  // namespace keyledger
