#ifndef KEYLEDGER_FACTS_HPP
#define KEYLEDGER_FACTS_HPP

#include "proof.hpp"

namespace keyledger {

struct held_license {
  std::string key;
  std::string instance_id;
  /** Absent when what was stored does not verify. */
  std::optional<proof> newest;
  /** As the server said beside the lease; not signed, for display. */
  std::optional<std::int64_t> expires_at;
  std::optional<std::int64_t> grace_until;
  /** Why the server gave no newer lease to a build. */
  std::optional<not_covered_info> not_covered;
  /** The fence of a floating seat, which tells it from the one that the device takes after it. */
  std::optional<std::int64_t> seat;
  /** The address of the relay that gave the seat; absent for the vendor's server. */
  std::optional<std::string> relay;
  /** The floating seat was given back, and the next start takes one again. */
  bool is_away = false;
};

struct held_settings {
  settings known;
  /** The signed answer, verified again after it was stored; undefined when nothing was signed. */
  json signed_answer;
  std::int64_t issued_at = 0;
  std::int64_t expires_at = 0;
};

struct held_trial {
  std::int64_t started_at = 0;
  bool used = false;
  bool reported = false;
};

/** What an app has to remember of license files. */
struct offline_facts {
  /** The seed of the device's own signing key, in hex. */
  std::string seed;
  /** The public part of that key, base64url. */
  std::string device_key;
  std::int64_t counter = 0;
  struct request {
    std::string nonce;
    std::string license_key_hash;
  };
  /** The last request, while its answer is awaited. */
  std::optional<request> asked;
  std::optional<proof> file;
  std::optional<withdrawn_list> withdrawn;
  /** The serial of the last file that was given back or taken away. */
  std::int64_t released = 0;
};

offline_facts new_offline_facts(std::string seed);

/** All that an app has to remember. */
struct facts {
  std::string install_id;
  key_map keys;
  std::optional<held_license> license;
  /** The instances that were given up in the second of `signed_at`. */
  std::vector<std::string> left;
  std::optional<held_settings> settings;
  std::optional<held_trial> trial;
  std::optional<offline_facts> offline;
  std::int64_t signed_at = 0;
  std::int64_t seen = 0;
};

/** The text to store, in the form that all clients have in common. */
std::string text_of(const facts& all);

/** Reads what was stored, and verifies all signatures again. @return nothing when it is not usable at all */
std::optional<facts> facts_from(const std::string& text, const place& at, const key_map& pinned);

/** What an answer says of a build that is not covered; nothing when it says something else. */
std::optional<not_covered_info> not_covered_in(const json& answer);
json to_json_value(const not_covered_info& said);

/** The fence of a floating seat in an answer or in what was stored. */
std::optional<std::int64_t> seat_from(const json& value);

/** The file that the device may use: it was not given back. */
const proof* file_of(const std::optional<offline_facts>& offline);

/** Whether a file was made for this machine; one that says nothing of itself is known by its signing key. */
bool is_for_machine(const proof& file, const offline_facts& offline, const std::optional<leased_device>& device);
leased_device machine_of(const offline_facts& offline, const std::optional<leased_device>& device);

/** What the state depends on, besides the facts and the time. */
struct circumstances {
  bool failing = false;
  std::optional<leased_device> device;
  std::optional<std::int64_t> built_at;
  std::optional<std::int64_t> default_trial_days;
};

/** The state that stored facts allow. @param now Unix seconds by the clock of the device */
state state_of(const facts& all, std::int64_t now, const circumstances& given);

/** The time by which everything ends: never before one that was already seen. */
inline std::int64_t time_of(const facts& all, std::int64_t now) { return all.seen > now ? all.seen : now; }

/** Whether a newer statement of the server takes the license away that a file is for. */
bool takes_away(const proof& newest, const proof& file);

}  // namespace keyledger

#endif
