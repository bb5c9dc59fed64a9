#ifndef KEYLEDGER_KEEPER_HPP
#define KEYLEDGER_KEEPER_HPP

#include <functional>
#include <mutex>

#include "keyledger/client.hpp"
#include "notices.hpp"
#include "take.hpp"

namespace keyledger {

/** Holds the facts, stores them, and says which state follows. Its locks are never held while a request is under way. */
class keeper {
 public:
  keeper(const client_options& options, place at);

  /** Reads the storage; another process may have written to it. */
  facts load();
  /** Stores what a step makes of the facts. @return whether the storage has them */
  bool change(const std::function<void(facts&, std::int64_t now)>& step);
  /** Notes whether the last attempt reached the server. */
  void reached(bool successful);
  void is_on(const device_identity& said);
  std::optional<leased_device> device();
  state present();
  std::int64_t now() const { return options_.clock->now_ms() / 1000; }
  std::uint64_t subscribe(std::function<void(const state&)> listener);
  std::uint64_t on_notice(std::function<void(const notice&)> listener);
  void unsubscribe(std::uint64_t number);
  /** Looks at the state, and calls the listeners with what is new. */
  void announce();

 private:
  /** Why the storage has failed. It is reported when no lock is held, so that the app may ask for the state. */
  using trouble = std::optional<std::string>;
  trouble store();
  /** The state at a time, with `memory_` held. */
  state state_at(std::int64_t at);
  /** Stores the time that was seen when it is due, unless another thread is storing. */
  void store_time();
  void report(const trouble& with) const;
  facts& known_facts();

  const client_options& options_;
  place at_;
  /** Guards what is known in memory. */
  std::mutex memory_;
  /** Guards the storage; taken before `memory_`. */
  std::mutex stored_;
  std::optional<facts> facts_;
  circumstances circumstances_;
  std::optional<std::string> known_text_;
  std::int64_t stored_seen_ = 0;
  std::map<std::uint64_t, std::function<void(const state&)>> listeners_;
  std::map<std::uint64_t, std::function<void(const notice&)>> noticed_;
  std::uint64_t subscriptions_ = 0;
  std::string announced_;
  look last_;
};

}  // namespace keyledger

#endif
