#include <algorithm>

#include "facts.hpp"

namespace keyledger {
namespace {

/** Corrections of a clock by its time server are no reason to tell anybody. */
constexpr std::int64_t tolerance = 300;
constexpr std::int64_t day = 86400;

struct present_time {
  const circumstances& given;
  std::int64_t time;
  bool free_tier;
};

/** A reason of a newer server counts as the strictest one. */
std::string withdrawn_reason(const std::string& reason) {
  return reason == "suspended" || reason == "reminted" || reason == "inactive" ? reason : "revoked";
}

state without(status is, bool free_tier) {
  state made;
  made.is = is;
  made.has_free_tier = free_tier;
  return made;
}

state revoked(std::string reason, std::int64_t at, bool free_tier) {
  state made = without(status::revoked, free_tier);
  made.reason = std::move(reason);
  made.at = at;
  return made;
}

state expired(const char* of, std::int64_t at, bool free_tier) {
  state made = without(status::expired, free_tier);
  made.of = of;
  made.at = at;
  return made;
}

state granted(const char* by, const proof& lease, std::optional<std::int64_t> ends, std::optional<std::int64_t> grace, bool failing, std::int64_t time) {
  const bool is_active = lease.status == "active";
  state made;
  made.is = failing ? status::offline : is_active ? status::licensed : status::fallback;
  if (failing) made.license = is_active ? "licensed" : "fallback";
  made.by = by;
  made.until = lease.expires_at;
  made.entitlements = lease.entitlements;
  made.values = lease.values;
  made.license_expires_at = ends;
  made.holder = lease.issued_to;
  if (by == std::string("lease") && is_active && ends && time >= *ends) made.grace_until = grace ? grace : lease.expires_at;
  return made;
}

/** @param said the license, for what the server says beside a lease; absent for a file */
state of_lease(const char* by, const proof& lease, const held_license* said, const present_time& now, bool failing) {
  if (now.time > lease.expires_at) {
    state made = expired(by, lease.expires_at, now.free_tier);
    made.entitlements = lease.entitlements;
    made.values = lease.values;
    return made;
  }
  const auto& built_at = now.given.built_at;
  if (lease.updates_until && built_at && *built_at > *lease.updates_until) {
    state made = without(status::not_covered, now.free_tier);
    made.not_covered = not_covered_info{*lease.updates_until, std::nullopt};
    return made;
  }
  // A lease of the first version says less.
  const auto ends = lease.is == proof::kind::token ? lease.license_expires_at : said ? said->expires_at : std::nullopt;
  return granted(by, lease, ends, said ? said->grace_until : std::nullopt, failing, now.time);
}

state of_proof(const held_license& license, const present_time& now) {
  const proof& newest = *license.newest;
  if (newest.is_refusal()) return revoked(withdrawn_reason(newest.reason), newest.issued_at, now.free_tier);
  if (newest.status == "expired") return expired("license", newest.expires_at, now.free_tier);
  if (!newest.is_granting()) return revoked(withdrawn_reason(newest.status), newest.issued_at, now.free_tier);
  const auto& device = now.given.device;
  if (device && newest.device && is_another_machine(*newest.device, *device)) return without(status::another_device, now.free_tier);
  return of_lease("lease", newest, &license, now, now.given.failing);
}

state of_file(const offline_facts& offline, const proof& file, const present_time& now) {
  if (!is_for_machine(file, offline, now.given.device)) return without(status::another_device, now.free_tier);
  const auto& list = offline.withdrawn;
  if (list && file.file && std::find(list->files.begin(), list->files.end(), file.file->id) != list->files.end())
    return revoked("withdrawn", list->issued_at, now.free_tier);
  return of_lease("file", file, nullptr, now, false);
}

bool is_good(const state& one) { return one.grants() || one.is == status::not_covered; }

/** Which of a proof and a file decides. */
state decisive(const proof& newest, const proof& file, state online, state carried) {
  const bool is_online_newer = newest.issued_at >= file.issued_at;
  state& newer = is_online_newer ? online : carried;
  state& older = is_online_newer ? carried : online;
  return is_good(newer) || takes_away(newest, file) || !is_good(older) ? newer : older;
}

/** With what the server has said of the build. */
state explained(state one, const std::optional<held_license>& license, const present_time& now) {
  const auto& built_at = now.given.built_at;
  if (!license || !license->not_covered || !built_at || *built_at <= license->not_covered->updates_until) return one;
  const not_covered_info& said = *license->not_covered;
  if (one.is == status::not_covered) {
    one.not_covered->newest_release = said.newest_release;
    return one;
  }
  if (one.is != status::expired || one.of != "lease") return one;
  state made = without(status::not_covered, now.free_tier);
  made.not_covered = said;
  return made;
}

std::optional<state> of_held(const facts& all, const present_time& now) {
  const proof* file = file_of(all.offline);
  const bool has_proof = all.license && all.license->newest;
  if (!has_proof && !file) return std::nullopt;
  if (!file) return explained(of_proof(*all.license, now), all.license, now);
  state carried = of_file(*all.offline, *file, now);
  if (has_proof) carried = decisive(*all.license->newest, *file, of_proof(*all.license, now), carried);
  return explained(std::move(carried), all.license, now);
}

state of_install(const facts& all, const present_time& now) {
  std::optional<std::int64_t> days = all.settings ? all.settings->known.trial_duration_days : std::nullopt;
  if (!days) days = now.given.default_trial_days;
  state made;
  if (all.trial) {
    // A length without end stays one: what overflows is later than every clock.
    constexpr std::int64_t longest = 9007199254740991;
    const std::int64_t length = days.value_or(0) > (longest - all.trial->started_at) / day ? longest - all.trial->started_at : days.value_or(0) * day;
    const std::int64_t until = all.trial->started_at + length;
    if (!all.trial->used && now.time < until) {
      made.is = status::trial;
      made.until = until;
      return made;
    }
    if (!now.free_tier) return expired("trial", until, false);
    made.is = status::free_tier;
    return made;
  }
  made.is = now.free_tier ? status::free_tier : status::unlicensed;
  if (days.value_or(0) != 0) made.trial_days = days;
  return made;
}

json to_json_value(const entitlement_value& value) {
  return std::visit([](const auto& one) { return json(one); }, value);
}

void add_allowed(json& into, const state& present) {
  json values = json::object();
  for (const auto& [name, value] : present.values) values.set(name, to_json_value(value));
  into.set("entitlements", json::array({present.entitlements.begin(), present.entitlements.end()})).set("values", values);
}

json or_null(const std::optional<std::string>& text) { return text ? json(*text) : json(nullptr); }

void add_granted(json& into, const state& present) {
  if (present.is == status::offline) into.set("license", present.license);
  into.set("by", present.by);
  add_allowed(into, present);
  into.set("licenseExpiresAt", present.license_expires_at ? json(*present.license_expires_at) : json(nullptr));
  if (present.holder) into.set("holder", json::object({{"name", or_null(present.holder->name)}, {"email", or_null(present.holder->email)}}));
  into.set("graceUntil", present.grace_until);
}

}  // namespace

bool takes_away(const proof& newest, const proof& file) {
  if (newest.license_key_hash != file.license_key_hash || newest.issued_at < file.issued_at) return false;
  if (newest.is_refusal()) return newest.reason != "inactive" || newest.instance_id == file.instance_id;
  return !newest.is_granting();
}

state state_of(const facts& all, std::int64_t now, const circumstances& given) {
  const present_time present{given, time_of(all, now), all.settings && all.settings->known.free_tier_enabled};
  auto held = of_held(all, present);
  state made = held ? std::move(*held) : of_install(all, present);
  made.clock_set_back = now < all.seen - tolerance;
  return made;
}

bool has(const state& present, const std::string& entitlement) {
  return present.grants() && std::find(present.entitlements.begin(), present.entitlements.end(), entitlement) != present.entitlements.end();
}

std::optional<entitlement_value> value(const state& present, const std::string& entitlement) {
  if (!has(present, entitlement)) return std::nullopt;
  const auto known = present.values.find(entitlement);
  return known == present.values.end() ? entitlement_value(true) : known->second;
}

const char* name_of(status is) noexcept {
  static constexpr const char* names[] = {"starting", "unlicensed", "licensed", "fallback",    "offline",       "trial",
                                          "free",     "expired",    "revoked",  "not_covered", "another_device"};
  return names[static_cast<std::size_t>(is)];
}

std::string to_json(const state& present) {
  json made = json::object({{"status", name_of(present.is)}});
  if (present.grants()) add_granted(made, present);
  made.set("until", present.until).set("trialDays", present.trial_days).set("at", present.at);
  if (!present.of.empty()) made.set("of", present.of);
  if (!present.reason.empty()) made.set("reason", present.reason);
  if (present.is == status::expired && (present.of == "lease" || present.of == "file")) {
    json allowed = json::object();
    add_allowed(allowed, present);
    made.set("allowed", allowed);
  }
  if (present.not_covered) {
    const json said = to_json_value(*present.not_covered);
    made.set("updatesUntil", said["updatesUntil"]).set("newestRelease", said["newestRelease"]);
  }
  if (present.is == status::expired || present.is == status::revoked || present.is == status::not_covered || present.is == status::another_device)
    made.set("freeTier", present.has_free_tier);
  return made.set("clockSetBack", present.clock_set_back).dump();
}

}  // namespace keyledger
