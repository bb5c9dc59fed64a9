#ifndef KEYLEDGER_NOTICE_HPP
#define KEYLEDGER_NOTICE_HPP

#include <cstdint>
#include <optional>
#include <string>

namespace keyledger {

/** What has happened to a license. */
enum class notice_kind {
  /** It goes on for longer than was known, or again after its end. */
  renewed,
  /** It is good again after it was withdrawn, or was not good here. */
  restored,
  revoked,
  /** It ends soon. This is told once in a run of the app for each end. */
  expiring,
};

/** What has happened to the license, for a message to the user of the app. */
struct notice {
  notice_kind is = notice_kind::renewed;
  /** With `revoked`: why, as the state has it. */
  std::string reason;
  /** With `renewed` and `expiring`: when the license ends, in Unix seconds; absent when it does not. */
  std::optional<std::int64_t> license_expires_at;
};

/** The name of a kind as all clients have it. */
const char* name_of(notice_kind is) noexcept;

/** A notice as JSON, with the names of the reference. */
std::string to_json(const notice& told);

}  // namespace keyledger

#endif
