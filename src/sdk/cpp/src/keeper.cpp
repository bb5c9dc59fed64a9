#include "keeper.hpp"

#include <algorithm>

#include "signature.hpp"
#include "text.hpp"

namespace keyledger {
namespace {

/** How far the clock goes on before its time is stored, in seconds. */
constexpr std::int64_t notice_seconds = 60;

/** What is no hash is left out. */
bool is_hash(const std::string& value) {
  return value.size() >= 16 && value.size() <= 128 &&
         value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-") == std::string::npos;
}

/** What an app does with what it is told must not end the call that has brought it about. */
template <class Told>
void tell(const std::map<std::uint64_t, std::function<void(const Told&)>>& listeners, const Told& told) {
  for (const auto& [number, listener] : listeners) {
    try {
      listener(told);
    } catch (...) {
      continue;
    }
  }
}

}  // namespace

keeper::keeper(const client_options& options, place at) : options_(options), at_(std::move(at)) {
  circumstances_.built_at = options.app_built_at;
  circumstances_.default_trial_days = options.default_trial_days;
}

facts& keeper::known_facts() {
  if (!facts_) {
    facts_.emplace();
    facts_->install_id = random_hex(16);
    facts_->keys = options_.keys;
  }
  return *facts_;
}

void keeper::report(const trouble& with) const {
  if (with && options_.on_storage_error) options_.on_storage_error(*with);
}

facts keeper::load() {
  trouble with;
  bool is_read = false;
  {
    const std::lock_guard<std::mutex> writing(stored_);
    std::optional<std::string> text;
    try {
      text = options_.storage->read();
    } catch (const std::exception& error) {
      with = error.what();
    }
    const std::lock_guard<std::mutex> reading(memory_);
    if (!facts_ || (text && text != known_text_)) {
      auto stored = text ? facts_from(replaced(*text), at_, options_.keys) : std::nullopt;
      // With the times that this process has seen; after a newer proof they begin anew.
      if (stored && facts_ && facts_->signed_at >= stored->signed_at) stored->seen = std::max(stored->seen, facts_->seen);
      if (stored) facts_ = std::move(stored);
      known_text_ = text;
      is_read = true;
    }
    known_facts();
  }
  report(with);
  if (is_read) announce();
  const std::lock_guard<std::mutex> reading(memory_);
  return *facts_;
}

bool keeper::change(const std::function<void(facts&, std::int64_t now)>& step) {
  {
    const std::lock_guard<std::mutex> reading(memory_);
    facts& all = known_facts();
    step(all, now());
    note_time(all, now());
  }
  const trouble with = [this] {
    const std::lock_guard<std::mutex> writing(stored_);
    return store();
  }();
  report(with);
  announce();
  return !with;
}

keeper::trouble keeper::store() {
  std::string text;
  {
    const std::lock_guard<std::mutex> reading(memory_);
    text = text_of(known_facts());
    stored_seen_ = facts_->seen;
  }
  if (text == known_text_) return std::nullopt;
  try {
    options_.storage->write(text);
    known_text_ = text;
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

void keeper::reached(bool successful) {
  {
    const std::lock_guard<std::mutex> reading(memory_);
    circumstances_.failing = !successful;
  }
  announce();
}

void keeper::is_on(const device_identity& said) {
  leased_device made;
  if (said.machine_hash && is_hash(*said.machine_hash)) made.machine_hash = said.machine_hash;
  for (const auto& [name, value] : said.components) {
    if (is_hash(value)) made.components[name] = value;
  }
  if (!made.machine_hash && made.components.empty()) return;
  const std::lock_guard<std::mutex> reading(memory_);
  circumstances_.device = std::move(made);
}

std::optional<leased_device> keeper::device() {
  const std::lock_guard<std::mutex> reading(memory_);
  return circumstances_.device;
}

state keeper::state_at(std::int64_t at) {
  if (!facts_) return {};
  note_time(*facts_, at);
  return state_of(*facts_, at, circumstances_);
}

void keeper::store_time() {
  {
    const std::lock_guard<std::mutex> reading(memory_);
    // Otherwise a program that is ended and started again would not know the time that it has seen.
    if (!facts_ || facts_->seen < stored_seen_ + notice_seconds) return;
  }
  trouble with;
  if (const std::unique_lock<std::mutex> writing(stored_, std::try_to_lock); writing) with = store();
  report(with);
}

state keeper::present() {
  const state made = [this] {
    const std::lock_guard<std::mutex> reading(memory_);
    return state_at(now());
  }();
  store_time();
  return made;
}

std::uint64_t keeper::subscribe(std::function<void(const state&)> listener) {
  const std::lock_guard<std::mutex> reading(memory_);
  listeners_.emplace(++subscriptions_, std::move(listener));
  return subscriptions_;
}

std::uint64_t keeper::on_notice(std::function<void(const notice&)> listener) {
  const std::lock_guard<std::mutex> reading(memory_);
  noticed_.emplace(++subscriptions_, std::move(listener));
  return subscriptions_;
}

void keeper::unsubscribe(std::uint64_t number) {
  const std::lock_guard<std::mutex> reading(memory_);
  listeners_.erase(number);
  noticed_.erase(number);
}

void keeper::announce() {
  state made;
  std::vector<notice> notices;
  decltype(listeners_) listeners;
  decltype(noticed_) noticed;
  {
    // Held from the look to the last thing that is compared with it: of two threads, one looks after the other.
    const std::lock_guard<std::mutex> reading(memory_);
    const std::int64_t at = now();
    made = state_at(at);
    if (std::string text = to_json(made); text != announced_) {
      announced_ = std::move(text);
      listeners = listeners_;
    }
    look next{made, at};
    notices = notices_of(last_, next, options_.expiring_days);
    last_ = std::move(next);
    if (!notices.empty()) noticed = noticed_;
  }
  store_time();
  tell(listeners, made);
  for (const notice& one : notices) tell(noticed, one);
}

}  // namespace keyledger
