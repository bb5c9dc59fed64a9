#include "take.hpp"

#include <algorithm>

#include "keyledger/license_key.hpp"
#include "text.hpp"

namespace keyledger {
namespace {

/** Of the same second, the proof that grants less counts. */
int strictness(const proof& one) {
  if (one.is_refusal()) return 3;
  return one.status == "active" ? 0 : one.status == "fallback" ? 1 : 2;
}

std::int64_t serial_of(const proof& one) { return one.is == proof::kind::token ? one.serial : 0; }

const char* age_of(const proof& offered, const proof* held, const facts& all) {
  if (held == nullptr) {
    const bool was_left = std::find(all.left.begin(), all.left.end(), offered.instance_id) != all.left.end();
    return offered.issued_at < all.signed_at || (offered.issued_at == all.signed_at && was_left) ? "stale" : "fresh";
  }
  if (offered.issued_at != held->issued_at) return offered.issued_at > held->issued_at ? "fresh" : "stale";
  const int one = strictness(offered);
  const int other = strictness(*held);
  if (one == other) return serial_of(offered) > serial_of(*held) ? "fresh" : "same";
  return one > other ? "fresh" : "stale";
}

/** The instance that is given up when this one is held. */
void note_left(facts& all, const std::string& instance_id) {
  if (all.license && all.license->instance_id != instance_id) all.left.push_back(all.license->instance_id);
}

/** When the license is forgotten or replaced, a file that it has taken away stays so. */
void keep_taken_away(facts& all) {
  const proof* file = file_of(all.offline);
  if (file != nullptr && all.license && all.license->newest && takes_away(*all.license->newest, *file)) all.offline->released = file->serial;
}

/** Without a license, newer settings begin the observation of the clock anew, as a newer lease does. */
void replace_settings(facts& all, held_settings next, std::int64_t now) {
  const std::int64_t before = all.settings ? all.settings->issued_at : 0;
  if (!all.license && next.issued_at > before) all.seen = std::max(next.issued_at, now);
  all.settings = std::move(next);
}

std::optional<std::int64_t> seconds_in(const json& value) { return is_seconds(value) ? std::optional(integer(value)) : std::nullopt; }

const json& first_of(const json& body) {
  if (!body["refusal"].is_nullish()) return body["refusal"];
  return body["lease2"].is_nullish() ? body["lease"] : body["lease2"];
}

}  // namespace

std::string take_proof(facts& all, const json& answer, const asked_license& asked, const place& at, std::int64_t now) {
  auto verified = verify_proof(first_of(answer), at, {license_key_hash(asked.key), asked.instance_id}, all.keys);
  if (!verified) return verified.doubt;
  proof& offered = *verified.value;
  const bool is_held = all.license && all.license->instance_id == asked.instance_id && all.license->key == asked.key;
  const proof* before = is_held && all.license->newest ? &*all.license->newest : nullptr;
  const char* as = age_of(offered, before, all);
  if (as != std::string("fresh")) return as;
  const bool is_later = !offered.is_refusal() && offered.issued_at > (before != nullptr ? before->issued_at : -1);
  held_license next;
  next.key = asked.key;
  next.instance_id = asked.instance_id;
  next.relay = asked.relay;
  next.expires_at = seconds_in(answer["license_expires_at"]);
  next.grace_until = seconds_in(answer["grace_until"]);
  next.seat = seat_from(answer["seat"]);
  // A device that was refused still had its floating seat, and may take another.
  if (!next.seat && offered.is_refusal() && is_held) next.seat = all.license->seat;
  if (offered.issued_at > all.signed_at) {
    all.left.clear();
  } else {
    note_left(all, asked.instance_id);
  }
  if (!is_held) keep_taken_away(all);
  all.signed_at = std::max(all.signed_at, offered.issued_at);
  all.seen = std::max({offered.issued_at, now, is_later ? std::int64_t{0} : all.seen});
  next.newest = std::move(offered);
  all.license = std::move(next);
  return as;
}

std::string take_settings(facts& all, const json& answer, const place& at, std::int64_t now, bool enforce) {
  // By the clock as it is now: a time that was seen while it was wrong by years would refuse all settings after it.
  const auto verified = verify_settings(answer, at, all.keys, now, enforce);
  if (!verified) return verified.doubt;
  held_settings next;
  if (!verified.value->trial_duration_days) {
    if (all.settings && all.settings->expires_at >= time_of(all, now)) return "stale";
    if (all.settings) next = *all.settings;
    next.known.free_tier_enabled = verified.value->free_tier_enabled;
    next.issued_at = 0;
    next.expires_at = 0;
    replace_settings(all, std::move(next), now);
    return "fresh";
  }
  next.known = *verified.value;
  next.issued_at = integer(answer["issued_at"]);
  next.expires_at = integer(answer["expires_at"]);
  if (all.settings && next.issued_at < all.settings->issued_at) return "stale";
  next.signed_answer = json::object();
  for (const char* name : {"trial_duration_days", "free_tier_enabled", "kid", "issued_at", "expires_at", "signature"})
    next.signed_answer.set(name, answer[name]);
  replace_settings(all, std::move(next), now);
  return "fresh";
}

std::string take_carried(facts& all, const std::string& token, const place& at, const std::optional<leased_device>& device, std::int64_t now) {
  offline_facts& offline = *all.offline;
  if (auto list = read_withdrawn(token, at, all.keys)) {
    if (offline.withdrawn && offline.withdrawn->serial > list->serial) return "outdated";
    all.seen = std::max(all.seen, list->issued_at);
    offline.withdrawn = std::move(list);
    return "fresh";
  }
  auto read = read_token(token, at, all.keys);
  if (!read) return read.doubt;
  proof& file = *read.value;
  if (!file.file) return "malformed";
  if (!is_for_machine(file, offline, device)) return "another_device";
  if (file.serial <= offline.released) return "outdated";
  if (offline.file && offline.file->stored["token"].text() == token) return "same";
  if (!offline.asked || offline.asked->nonce != file.file->nonce || offline.asked->license_key_hash != file.license_key_hash) return "not_asked";
  if (now < file.not_before) return "not_yet";
  if (now > file.expires_at) return "over";
  if (file.issued_at > all.signed_at) all.left.clear();
  all.signed_at = std::max(all.signed_at, file.issued_at);
  all.seen = std::max(file.issued_at, now);
  offline.asked.reset();
  offline.file = std::move(file);
  return "fresh";
}

void take_not_covered(facts& all, const json& answer) {
  if (all.license) all.license->not_covered = not_covered_in(answer);
}

void begin_trial(facts& all, std::int64_t now) {
  if (!all.trial) all.trial = held_trial{time_of(all, now), false, false};
}

void take_trial(facts& all, const json& answer) {
  if (!all.trial || !answer.is_object()) return;
  if (is_seconds(answer["trial_started_at"])) all.trial->started_at = integer(answer["trial_started_at"]);
  if (answer["trial_already_used"].is_boolean()) all.trial->used = answer["trial_already_used"].is_true();
  all.trial->reported = true;
}

void note_time(facts& all, std::int64_t now) { all.seen = std::max(all.seen, now); }

void give_seat_back(facts& all) {
  if (!all.license) return;
  all.license->newest.reset();
  all.license->seat.reset();
  all.license->is_away = true;
}

void leave(facts& all, const std::string& instance_id) {
  const bool is_held = all.license && all.license->instance_id == instance_id;
  if (is_held) keep_taken_away(all);
  const proof* file = file_of(all.offline);
  if (file != nullptr && file->instance_id == instance_id) all.offline->released = file->serial;
  if (!is_held) return;
  all.left.push_back(instance_id);
  all.license.reset();
}

std::string armored(const std::string& kind, const std::string& token) {
  std::string text = "-----BEGIN KEYLEDGER " + kind + "-----\n";
  for (std::size_t at = 0; at < token.size(); at += 64) text += token.substr(at, 64) + '\n';
  return text + "-----END KEYLEDGER " + kind + "-----\n";
}

std::string token_in(const std::string& text) {
  static const std::string dashes = "-----";
  std::string into;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, dashes.size(), dashes) == 0) {
      std::size_t end = at + dashes.size();
      while (end < text.size() && ((text[end] >= 'A' && text[end] <= 'Z') || text[end] == ' ')) ++end;
      if (end > at + dashes.size() && text.compare(end, dashes.size(), dashes) == 0) {
        at = end + dashes.size();
        continue;
      }
    }
    const std::size_t begin = at;
    if (!is_space(next_point(text, at))) into.append(text, begin, at - begin);
  }
  return into;
}

}  // namespace keyledger
