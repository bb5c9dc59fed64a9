#ifndef KEYLEDGER_CALLS_HPP
#define KEYLEDGER_CALLS_HPP

#include <functional>

#include "answer.hpp"
#include "keyledger/client.hpp"
#include "keyset.hpp"

namespace keyledger {

/** Why a call did not work; nothing when it did. */
using failure = std::optional<problem>;

/** Calls of the client interface at one server, with their time limits and repetitions. */
class calls {
 public:
  /** @param address empty for no server */
  calls(const client_options& options, const std::string& address);

  /**
   * Sends a call up to so many times, until `judge` finds nothing wrong with an answer, or a problem that stays.
   * @param body undefined for a GET
   */
  failure send(const std::string& name, const json& body, const std::function<failure(const answered&)>& judge, int attempts = 3);
  /** Fetches the published keys; only those whose `kid` is the hash of the key are returned. */
  key_map keyset();

 private:
  std::optional<answered> request(const std::string& path, const json& body);

  const client_options& options_;
  std::string root_;
  std::string product_;
  std::int64_t not_before_ = 0;
};

/** A value as one segment of an address. @throws std::invalid_argument for one that no address can contain */
std::string segment(const std::string& name, const std::string& value);

/** How long to wait before an attempt, with full jitter: anything between 0 and the bound. */
double full_jitter(int attempt, double base_ms, double most_ms, double random);

}  // namespace keyledger

#endif
