#ifndef KEYLEDGER_OPERATIONS_HPP
#define KEYLEDGER_OPERATIONS_HPP

#include "calls.hpp"
#include "keeper.hpp"

namespace keyledger {

/** What the app waits for while a person chooses a license in their browser. */
struct browser_wait {
  activation_page page;
  std::string device_code;
  std::int64_t pause_ms = 0;
  std::int64_t polls = 0;
};

/** The person has not chosen before the end. */
problem no_choice_in_time();

/** What the calls of a client do, one at a time. */
class operations {
 public:
  explicit operations(const client_options& options);

  failure activate(const std::string& key);
  /** Asks for a page on which a person chooses a license. */
  failure ask_in_browser(browser_wait& into);
  /** Asks once what the person has decided. @param key stays absent while they have not */
  failure poll_browser(const std::string& device_code, std::optional<std::string>& key);
  failure validate();
  failure start_trial();
  failure deactivate();
  failure give_seat_back();
  failure borrow(double seconds);
  failure import_text(const std::string& text);
  carried create_request(const std::string& key);
  std::optional<carried> give_back();

  keeper held;

 private:
  using also = std::function<failure(const json& body)>;
  struct server {
    std::optional<std::string> relay;
    calls* at;
  };

  std::vector<server> in_order();
  calls& that(const std::optional<std::string>& relay);
  failure activate_at(const server& at, const std::string& key, const json& more, int attempts, const also& take_also);
  failure report();
  bool take(const answered& answer, const asked_license& asked);
  bool take_settings_of(const answered& answer);
  std::string take_signed(const std::function<std::string(facts&, std::int64_t)>& step);
  void add_said(json& body);
  void add_telemetry(json& body);
  bool is_out_of_reach(const held_license& license, const failure& why);
  failure send_deactivate(const held_license& license, const std::optional<std::string>& release, int attempts);
  std::string name_of_device(const facts& all) const;
  carried sign(const char* kind, const offline_facts& offline, json claims);
  void store(const std::function<void(facts&, std::int64_t)>& step);

  const client_options& options_;
  place at_;
  calls vendor_;
  std::map<std::string, std::unique_ptr<calls>> relays_;
};

}  // namespace keyledger

#endif
