#ifndef KEYLEDGER_PROBLEM_HPP
#define KEYLEDGER_PROBLEM_HPP

#include <cstdint>
#include <optional>
#include <string>

#include "keyledger/state.hpp"

namespace keyledger {

/** Why a call did not do what it should. The list is closed: a client in any language has these codes and no others. */
enum class problem_code {
  /** No answer came in time. */
  offline,
  /** The server does not work at the moment. */
  unavailable,
  /** Too many calls; nothing is sent again before `retry_after_ms`. */
  rate_limited,
  /** What came is no answer of the server, or not a newer one: a proxy or a sign-in page of a network, perhaps. */
  not_genuine,
  /** The SDK key, the tenant id or the product id of the app is wrong. */
  misconfigured,
  /** The tenant may not activate licenses. */
  forbidden,
  no_license,
  no_trial,
  /** The client has no address of a server, so it sends nothing. */
  no_server,
  /** The device has a license file: `release` gives its seat back. */
  has_file,
  malformed,
  unknown_key,
  bad_signature,
  another_device,
  /** It answers another request than the last one of this device. */
  not_asked,
  /** It is older than what the device has, or was given back. */
  outdated,
  /** The clock of the machine is before it. */
  not_yet,
  over,
  not_found,
  revoked,
  suspended,
  expired,
  /** The app was built after the updates of the license ended. */
  build_not_covered,
  reminted,
  inactive,
  seat_limit_reached,
  /** The floating seat ran out, or its device has taken another since. */
  seat_lost,
  /** The seats are of people: the key is of a person without one, or another person uses this device. */
  assigned_to_another,
  borrow_limit_reached,
  plan_limit,
  refused,
};

/** The name of a code as all clients have it. */
const char* name_of(problem_code code) noexcept;

/** Why a call did not do what it should. The state says what it means for the app. */
struct problem {
  problem_code code = problem_code::offline;
  /** In English, for logs and support. */
  std::string message;
  std::optional<std::int64_t> retry_after_ms;
  /** With `build_not_covered`, as the server has said it. */
  std::optional<not_covered_info> not_covered;
  /** With `seat_limit_reached` of a license with floating seats: how many wait for one, this device with them. */
  std::optional<std::int64_t> waiting;
};

/** A problem as JSON, with the names of the reference. */
std::string to_json(const problem& why);

}  // namespace keyledger

#endif
