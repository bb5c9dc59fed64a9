#ifndef KEYLEDGER_PURCHASE_HPP
#define KEYLEDGER_PURCHASE_HPP

#include <functional>

#include "keyledger/ports.hpp"
#include "keyledger/state.hpp"

namespace keyledger {

/**
 * Validates until what is granted has changed: the provider tells the vendor of a purchase a few seconds after it.
 * @return whether it has changed within half a minute
 */
bool refresh_after_purchase(clock& time, const std::function<state()>& present, const std::function<void()>& validate);

}  // namespace keyledger

#endif
