#include "facts.hpp"

#include "keyledger/license_key.hpp"
#include "signature.hpp"

namespace keyledger {
namespace {

std::optional<std::int64_t> seconds_in(const json& value) { return is_seconds(value) ? std::optional(integer(value)) : std::nullopt; }
std::optional<std::string> field_in(const json& value) { return is_field(value) ? std::optional(value.text()) : std::nullopt; }

std::optional<not_covered_info> not_covered_from(const json& until, const json& version, const json& built_at, const json& url) {
  if (!is_seconds(until)) return std::nullopt;
  not_covered_info made{integer(until), std::nullopt};
  if (!version.is_text() || !is_seconds(built_at)) return made;
  made.newest_release = release_info{version.text(), integer(built_at), std::nullopt};
  // An app may open it, so nothing but the address of a page is handed on.
  if (url.is_text() && url.text().rfind("https://", 0) == 0) made.newest_release->url = url.text();
  return made;
}

std::optional<held_license> license_from(const json& value, const place& at, const key_map& keys) {
  if (!is_field(value["key"]) || !is_field(value["instanceId"])) return std::nullopt;
  held_license made;
  made.key = value["key"].text();
  made.instance_id = value["instanceId"].text();
  made.newest = verify_proof(value["proof"], at, {license_key_hash(made.key), made.instance_id}, keys).value;
  made.expires_at = seconds_in(value["expiresAt"]);
  made.grace_until = seconds_in(value["graceUntil"]);
  const json& said = value["notCovered"];
  const json& release = said["newestRelease"];
  made.not_covered = not_covered_from(said["updatesUntil"], release["version"], release["builtAt"], release["url"]);
  made.seat = seat_from(value["seat"]);
  made.relay = field_in(value["relay"]);
  made.is_away = value["isAway"].is_true();
  return made;
}

/** A trial length that was signed is taken from its signed answer, not from what stands beside it. */
std::optional<held_settings> settings_from(const json& value, const place& at, const key_map& keys) {
  if (!value["freeTierEnabled"].is_boolean()) return std::nullopt;
  held_settings made;
  made.known.free_tier_enabled = value["freeTierEnabled"].is_true();
  const json& answer = value["signed"];
  if (!answer.is_object()) return made;
  const auto verified = verify_settings(answer, at, keys, 0, false);
  if (!verified || !is_seconds(answer["issued_at"]) || !is_seconds(answer["expires_at"])) return std::nullopt;
  made.signed_answer = answer;
  made.known.trial_duration_days = verified.value->trial_duration_days;
  // After the signature is over, an unsigned answer may have changed the free tier alone.
  if (value["issuedAt"].is_number() && value["issuedAt"].number() == 0) return made;
  made.known.free_tier_enabled = verified.value->free_tier_enabled;
  made.issued_at = integer(answer["issued_at"]);
  made.expires_at = integer(answer["expires_at"]);
  return made;
}

std::optional<offline_facts> offline_from(const json& value, const place& at, const key_map& keys) {
  const json& seed = value["seed"];
  if (!seed.is_text() || seed.text().size() != 64 || !from_hex(seed.text())) return std::nullopt;
  if (!is_seconds(value["counter"]) || !is_seconds(value["released"])) return std::nullopt;
  offline_facts made = new_offline_facts(seed.text());
  made.counter = integer(value["counter"]);
  made.released = integer(value["released"]);
  const json& asked = value["asked"];
  if (is_field(asked["nonce"]) && is_field(asked["licenseKeyHash"]))
    made.asked = offline_facts::request{asked["nonce"].text(), asked["licenseKeyHash"].text()};
  auto file = read_token(value["file"]["token"].text(), at, keys);
  if (file && file.value->file) made.file = std::move(file.value);
  made.withdrawn = read_withdrawn(value["withdrawn"]["token"].text(), at, keys);
  return made;
}

json license_json(const held_license& license) {
  json made = json::object();
  made.set("key", license.key).set("instanceId", license.instance_id);
  if (license.newest) made.set("proof", license.newest->stored);
  made.set("expiresAt", license.expires_at ? json(*license.expires_at) : json(nullptr)).set("graceUntil", license.grace_until);
  if (license.not_covered) made.set("notCovered", to_json_value(*license.not_covered));
  if (license.seat) made.set("seat", json::object({{"fence", *license.seat}}));
  made.set("relay", license.relay);
  if (license.is_away) made.set("isAway", true);
  return made;
}

json settings_json(const held_settings& held) {
  json made = json::object({{"freeTierEnabled", held.known.free_tier_enabled}});
  made.set("trialDurationDays", held.known.trial_duration_days).set("signed", held.signed_answer);
  return made.set("issuedAt", held.issued_at).set("expiresAt", held.expires_at);
}

json offline_json(const offline_facts& offline) {
  json made = json::object({{"seed", offline.seed}, {"deviceKey", offline.device_key}, {"counter", offline.counter}, {"released", offline.released}});
  if (offline.asked) made.set("asked", json::object({{"nonce", offline.asked->nonce}, {"licenseKeyHash", offline.asked->license_key_hash}}));
  if (offline.file) made.set("file", offline.file->stored);
  if (offline.withdrawn) made.set("withdrawn", json::object({{"token", offline.withdrawn->token}}));
  return made;
}

}  // namespace

offline_facts new_offline_facts(std::string seed) {
  offline_facts made;
  made.device_key = to_base64url(public_key_of(from_hex(seed).value()));
  made.seed = std::move(seed);
  return made;
}

std::optional<not_covered_info> not_covered_in(const json& answer) {
  if (!answer["reason"].same(json("build_not_covered"))) return std::nullopt;
  const json& newest = answer["newest_covered_release"];
  return not_covered_from(answer["updates_until"], newest["version"], newest["built_at"], newest["url"]);
}

json to_json_value(const not_covered_info& said) {
  json made = json::object({{"updatesUntil", said.updates_until}});
  if (!said.newest_release) return made;
  const auto& [version, built_at, url] = *said.newest_release;
  return made.set("newestRelease", json::object({{"version", version}, {"builtAt", built_at}, {"url", url ? json(*url) : json(nullptr)}}));
}

std::optional<std::int64_t> seat_from(const json& value) { return seconds_in(value["fence"]); }

std::string text_of(const facts& all) {
  json keys = json::object();
  for (const auto& [kid, key] : all.keys) keys.set(kid, key);
  json left = json::array({all.left.begin(), all.left.end()});
  json made = json::object({{"format", 1}, {"installId", all.install_id}, {"keys", keys}, {"left", left}});
  if (all.license) made.set("license", license_json(*all.license));
  if (all.settings) made.set("settings", settings_json(*all.settings));
  if (all.trial) {
    const auto& [started_at, used, reported] = *all.trial;
    made.set("trial", json::object({{"startedAt", started_at}, {"used", used}, {"reported", reported}}));
  }
  if (all.offline) made.set("offline", offline_json(*all.offline));
  return made.set("signedAt", all.signed_at).set("seen", all.seen).dump();
}

std::optional<facts> facts_from(const std::string& text, const place& at, const key_map& pinned) {
  const auto read = parse_json(text);
  if (!read || !(*read)["format"].same(json(1))) return std::nullopt;
  const json& stored = *read;
  if (!is_field(stored["installId"]) || !is_seconds(stored["signedAt"]) || !is_seconds(stored["seen"])) return std::nullopt;
  facts made;
  made.install_id = stored["installId"].text();
  made.keys = pinned;
  for (const auto& [kid, key] : stored["keys"].members()) {
    if (is_field(key)) made.keys.emplace(kid, key.text());
  }
  made.license = license_from(stored["license"], at, made.keys);
  for (const json& one : stored["left"].items()) {
    if (is_field(one)) made.left.push_back(one.text());
  }
  made.settings = settings_from(stored["settings"], at, made.keys);
  if (is_seconds(stored["trial"]["startedAt"])) {
    const json& trial = stored["trial"];
    made.trial = held_trial{integer(trial["startedAt"]), trial["used"].is_true(), trial["reported"].is_true()};
  }
  made.offline = offline_from(stored["offline"], at, made.keys);
  made.signed_at = integer(stored["signedAt"]);
  made.seen = integer(stored["seen"]);
  return made;
}

const proof* file_of(const std::optional<offline_facts>& offline) {
  return offline && offline->file && offline->file->serial > offline->released ? &*offline->file : nullptr;
}

leased_device machine_of(const offline_facts& offline, const std::optional<leased_device>& device) {
  return device ? *device : leased_device{offline.device_key, {}};
}

bool is_for_machine(const proof& file, const offline_facts& offline, const std::optional<leased_device>& device) {
  return file.device && is_same_machine(*file.device, machine_of(offline, device));
}

}  // namespace keyledger
