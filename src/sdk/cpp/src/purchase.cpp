#include "purchase.hpp"

#include "notices.hpp"

namespace keyledger {
namespace {

constexpr std::int64_t pause_ms = 3000;
constexpr int pauses = 10;

/** Whether both grant the same: a license or its fallback, for what, and until when. */
bool grant_the_same(const state& one, const state& other) {
  if (!one.grants() || !other.grants()) return one.grants() == other.grants();
  return is_active(one) == is_active(other) && one.entitlements == other.entitlements && one.values == other.values &&
         one.license_expires_at == other.license_expires_at;
}

}  // namespace

bool refresh_after_purchase(clock& time, const std::function<state()>& present, const std::function<void()>& validate) {
  const state before = present();
  const auto is_changed = [&] { return !grant_the_same(present(), before); };
  validate();
  for (int left = pauses; left > 0 && !is_changed(); --left) {
    time.sleep_ms(pause_ms);
    validate();
  }
  return is_changed();
}

}  // namespace keyledger
