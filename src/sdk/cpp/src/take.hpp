#ifndef KEYLEDGER_TAKE_HPP
#define KEYLEDGER_TAKE_HPP

#include "facts.hpp"

namespace keyledger {

/** The license of an answer, where the device has asked for one. */
struct asked_license {
  std::string key;
  std::string instance_id;
  std::optional<std::string> relay;
};

/**
 * Each of these changes the facts by what has come, and returns what became of it: `fresh` and `same` show that the server was
 * reached, `stale` is an older answer, and every other word is why it is not taken. A doubt changes nothing.
 */
std::string take_proof(facts& all, const json& answer, const asked_license& asked, const place& at, std::int64_t now);
std::string take_settings(facts& all, const json& answer, const place& at, std::int64_t now, bool enforce);
/** Takes a text that was carried to the device. @param all its offline facts are there */
std::string take_carried(facts& all, const std::string& token, const place& at, const std::optional<leased_device>& device, std::int64_t now);

/** Whether a text was not taken, or only as an older one. */
inline bool is_new(const std::string& as) { return as == "fresh" || as == "same"; }

/** Notes what the server says of a build that the license does not cover. */
void take_not_covered(facts& all, const json& answer);
/** Begins the trial of this machine, unless one was begun before. */
void begin_trial(facts& all, std::int64_t now);
/** Takes what the server knows of the trial of this machine. */
void take_trial(facts& all, const json& answer);
/** Notes the time of the device's clock, so that setting it back is noticed. */
void note_time(facts& all, std::int64_t now);
/** Notes that the floating seat is given back; the license stays. */
void give_seat_back(facts& all);
/** Gives an instance up: neither a lease nor a file for it counts any more. */
void leave(facts& all, const std::string& instance_id);

/** A token as a text to carry. @param kind `REQUEST` or `RELEASE` */
std::string armored(const std::string& kind, const std::string& token);
/** The token in a text that was pasted or read from a file. */
std::string token_in(const std::string& text);

}  // namespace keyledger

#endif
