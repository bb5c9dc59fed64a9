#ifndef KEYLEDGER_NOTICES_HPP
#define KEYLEDGER_NOTICES_HPP

#include <vector>

#include "keyledger/notice.hpp"
#include "keyledger/state.hpp"

namespace keyledger {

/** A state, and when it was looked at by the clock: Unix seconds. */
struct look {
  keyledger::state state;
  std::int64_t at = 0;
};

/**
 * What is to be told of two looks at the state, one after the other.
 * @param expiring_days how many days before its end a license ends soon
 */
std::vector<notice> notices_of(const look& before, const look& after, std::int64_t expiring_days);

/** Whether the license itself is good, and not only its fallback. */
bool is_active(const state& one) noexcept;

}  // namespace keyledger

#endif
