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
  /** There is no license on this device: activate one first. */
  no_license,
  /** The product has no trial. */
  no_trial,
  /** The client has no address of a server, so it sends nothing. */
  no_server,
  /** The device has a license file: `release` gives its seat back. */
  has_file,
  /** A text that was carried here is neither a license file nor a list of withdrawn files. */
  malformed,
  /** It was signed with a key that this app does not know. */
  unknown_key,
  /** It was changed on the way, or was made for another product. */
  bad_signature,
  /** It was made for another machine. */
  another_device,
  /** It answers another request than the last one of this device. */
  not_asked,
  /** It is older than what the device has, or was given back. */
  outdated,
  /** The clock of the machine is before it. */
  not_yet,
  /** It has ended: ask for the next one. */
  over,
  /** The server knows no such license. */
  not_found,
  /** The vendor has withdrawn the license. */
  revoked,
  /** The vendor has withdrawn the license for a time. */
  suspended,
  /** The license has ended. */
  expired,
  /** The app was built after the updates of the license ended. */
  build_not_covered,
  /** The license has another key by now. */
  reminted,
  /** The device has no seat any more. */
  inactive,
  /** All seats are taken. */
  seat_limit_reached,
  /** The floating seat ran out, or its device has taken another since. */
  seat_lost,
  /** The seats are of people: the key is of a person without one, or another person uses this device. */
  assigned_to_another,
  /** As many seats are borrowed as may be. */
  borrow_limit_reached,
  /** The vendor's own plan allows no more active devices. */
  plan_limit,
  /** The server has refused it for a reason that this client does not know. */
  refused,
};

/** The name of a code as all clients have it, such as `seat_limit_reached`. */
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
