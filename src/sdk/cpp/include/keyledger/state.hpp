#ifndef KEYLEDGER_STATE_HPP
#define KEYLEDGER_STATE_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace keyledger {

/** What an app shows and allows; there is exactly one at any time. */
enum class status {
  /** The storage has not been read yet. */
  starting,
  /** No license, no trial under way, no free tier: ask for a license key, or offer the trial. */
  unlicensed,
  /** What was signed for this device is good. */
  licensed,
  /** The license has ended, and its fallback entitlements stay. */
  fallback,
  /** The last attempts to reach the server failed; the stored lease is good until its end. */
  offline,
  /** The trial runs. */
  trial,
  /** The product has a free tier, and no trial runs. */
  free_tier,
  /** The license, the lease, the file or the trial has ended. */
  expired,
  /** The license was withdrawn. */
  revoked,
  /** The license is good, but the app was built after its updates ended. */
  not_covered,
  /** The license was given to another machine: the storage was copied here, or the machine has changed very much. */
  another_device,
};

/** The value of an entitlement; `true` for a mere flag. */
using entitlement_value = std::variant<bool, double, std::string>;

/** Whom a license is issued to, for display. */
struct holder {
  std::optional<std::string> name;
  std::optional<std::string> email;
};

/** A release of the app, as the vendor has listed it. */
struct release_info {
  std::string version;
  /** Unix seconds. */
  std::int64_t built_at = 0;
  /** Always `https://`. */
  std::optional<std::string> url;
};

/** What the server says of a build that a license does not cover. */
struct not_covered_info {
  /** The license covers builds until then, in Unix seconds. */
  std::int64_t updates_until = 0;
  /** The newest release that it covers; absent when the vendor lists none. */
  std::optional<release_info> newest_release;
};

/**
 * The state of the license on this device. Which members are set depends on `is`; all times are Unix seconds.
 *
 * | `is`                            | set                                                                                  |
 * | ------------------------------- | ------------------------------------------------------------------------------------ |
 * | `licensed`, `fallback`          | `by`, `until`, `entitlements`, `values`, `license_expires_at`, `holder`, `grace_until` |
 * | `offline`                       | the same, and `license`                                                              |
 * | `trial`                         | `until`                                                                              |
 * | `unlicensed`, `free_tier`       | `trial_days`, if a trial can be started                                              |
 * | `expired`                       | `of`, `at`, `has_free_tier`; of a lease or a file also what it granted                |
 * | `revoked`                       | `reason`, `at`, `has_free_tier`                                                      |
 * | `not_covered`                   | `not_covered`, `has_free_tier`                                                       |
 * | `another_device`                | `has_free_tier`                                                                      |
 */
struct state {
  status is = status::starting;
  /** The clock of the device is behind a time that was already seen; that later time is then used. */
  bool clock_set_back = false;
  /** `lease` or `file`: what was signed for the device. */
  std::string by;
  /** With `offline`: `licensed` or `fallback`. */
  std::string license;
  /** With `expired`: `license`, `trial`, `lease` or `file`. */
  std::string of;
  /** With `revoked`: `revoked`, `suspended`, `reminted`, `inactive` or `withdrawn`. */
  std::string reason;
  /** Until when the app may go on without reaching the server, or without the next file; or when the trial ends. */
  std::optional<std::int64_t> until;
  /** When it ended, or was withdrawn. */
  std::optional<std::int64_t> at;
  /** The names of what is granted; with `expired`, of what was. Ask `has`, which knows the difference. */
  std::vector<std::string> entitlements;
  /** Of the entitlements that are more than flags. */
  std::map<std::string, entitlement_value> values;
  /** When the license itself ends, for display; absent when it does not. */
  std::optional<std::int64_t> license_expires_at;
  /** Absent where the product does not name them. */
  std::optional<struct holder> holder;
  /** While the license goes on after its end: until when. */
  std::optional<std::int64_t> grace_until;
  /** The days of the trial that can be started. */
  std::optional<std::int64_t> trial_days;
  /** Whether the app may continue with its free tier. */
  bool has_free_tier = false;
  std::optional<not_covered_info> not_covered;

  /** Whether something is granted now: `licensed`, `fallback` and `offline`. */
  bool grants() const noexcept {
    return is == status::licensed || is == status::fallback || is == status::offline;
  }
};

/** @return whether an app may use what has this name in this state */
bool has(const state& present, const std::string& entitlement);

/** @return how much of it an app may use: a number or text, or `true` when it has no value; nothing when it may not use it */
std::optional<entitlement_value> value(const state& present, const std::string& entitlement);

/** The name of a status as all clients have it: `licensed`, `free`, `not_covered` … */
const char* name_of(status is) noexcept;

/** The state as the JSON text that all clients have in common, with the names of the reference. */
std::string to_json(const state& present);

}  // namespace keyledger

#endif
