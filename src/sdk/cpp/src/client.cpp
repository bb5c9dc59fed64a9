#include "keyledger/client.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include "operations.hpp"
#include "purchase.hpp"
#include "signature.hpp"
#include "text.hpp"

namespace keyledger {
namespace {

class clock_of_system : public clock {
 public:
  std::int64_t now_ms() override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  void sleep_ms(std::int64_t ms) override { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
};

client_options checked(client_options options) {
  if (!options.storage) throw std::invalid_argument("storage is missing");
  if (!options.clock) options.clock = system_clock();
  if (!options.random) options.random = random_fraction;
  if (!options.transport && (!options.base_url.empty() || options.relays)) throw std::invalid_argument("transport is missing");
  if (options.timeout_ms <= 0) throw std::invalid_argument("timeout_ms is not positive");
  for (auto* text : {&options.device_name, &options.app_version, &options.app_channel, &options.platform, &options.user_id})
    if (*text) *text = replaced(**text);
  segment("tenant_id", options.tenant_id);
  segment("product_id", options.product_id);
  return options;
}

}  // namespace

std::shared_ptr<clock> system_clock() { return std::make_shared<clock_of_system>(); }

class client::parts {
 public:
  explicit parts(client_options given) : options(checked(std::move(given))), work(options), next_ms(options.clock->now_ms()) {}

  /** Runs one step after another, so that at most one request is under way. */
  template <class Step>
  auto in_turn(const Step& step) {
    const std::lock_guard<std::mutex> turn(turn_);
    ask();
    return step(work);
  }
  outcome run(const std::function<failure(operations&)>& step) {
    auto why = in_turn(step);
    return {std::move(why), work.held.present()};
  }
  /** Asks the app what the device is. While it fails to answer, what it said before stays. */
  void ask() {
    if (!options.identity) return;
    try {
      work.held.is_on(options.identity());
    } catch (...) {
      return;
    }
  }
  outcome validate();
  void plan(const outcome& of);

  client_options options;
  operations work;
  std::atomic<std::int64_t> next_ms;

 private:
  std::mutex turn_;
  std::mutex sharing_;
  std::shared_future<outcome> validating_;
  std::atomic<int> failures_{0};
};

outcome client::parts::validate() {
  std::promise<outcome> own;
  std::shared_future<outcome> other;
  {
    const std::lock_guard<std::mutex> one(sharing_);
    other = validating_;
    if (!other.valid()) validating_ = own.get_future().share();
  }
  if (other.valid()) return other.get();
  const auto done = [this] {
    const std::lock_guard<std::mutex> one(sharing_);
    validating_ = {};
  };
  try {
    outcome found = run([](operations& work_of) { return work_of.validate(); });
    plan(found);
    done();
    own.set_value(found);
    return found;
  } catch (...) {
    done();
    own.set_exception(std::current_exception());
    throw;
  }
}

/** When to validate next: see the table of the calls in the reference. */
void client::parts::plan(const outcome& of) {
  const double random = options.random();
  const auto every = static_cast<double>(options.refresh_seconds);
  const bool is_leased = of.state.grants() && of.state.until;
  const double left = is_leased ? static_cast<double>(*of.state.until - work.held.now()) : 0;
  // The server that does not cover the build will not cover it in a minute.
  if (!of.problem || of.problem->code == problem_code::build_not_covered) {
    failures_ = 0;
    const double seconds = std::max(30.0, is_leased ? std::min(every, left / 2) : every);
    next_ms = options.clock->now_ms() + static_cast<std::int64_t>(seconds * 1000 * (0.9 + 0.2 * random));
    return;
  }
  const auto after = static_cast<double>(of.problem->retry_after_ms.value_or(0));
  double pause = after * (1 + 0.2 * random);
  // A device that waits for a floating seat comes back when the next one ends. A lease that is nearly over gets more attempts.
  if (of.problem->code != problem_code::seat_limit_reached || after == 0) {
    const double grown = 1000 + full_jitter(failures_, 60000, 3600000, random);
    pause = after + (is_leased ? std::min(std::max(5000.0, left * 250), grown) : grown);
  }
  ++failures_;
  next_ms = options.clock->now_ms() + static_cast<std::int64_t>(pause);
}

client::client(client_options options) : parts_(std::make_unique<parts>(std::move(options))) {}
client::~client() = default;
client::client(client&&) noexcept = default;
client& client::operator=(client&&) noexcept = default;

keyledger::state client::start() {
  return parts_->in_turn([](operations& work) {
    // The device was asked first, so that a copied storage shows no license even for a moment.
    work.held.load();
    return work.held.present();
  });
}

keyledger::state client::state() const { return parts_->work.held.present(); }
bool client::has(const std::string& entitlement) const { return keyledger::has(state(), entitlement); }
std::optional<entitlement_value> client::value(const std::string& entitlement) const { return keyledger::value(state(), entitlement); }

outcome client::activate(const std::string& license_key) {
  return parts_->run([&](operations& work) { return work.activate(replaced(license_key)); });
}
outcome client::activate_in_browser(const std::function<void(const activation_page&)>& show, const std::function<bool()>& is_given_up) {
  browser_wait waiting;
  failure why = parts_->in_turn([&](operations& work) { return work.ask_in_browser(waiting); });
  if (why) return {std::move(why), state()};
  show(waiting.page);
  why = no_choice_in_time();
  for (std::int64_t left = waiting.polls; left > 0 && !(is_given_up && is_given_up()); --left) {
    parts_->options.clock->sleep_ms(waiting.pause_ms);
    std::optional<std::string> key;
    const failure found = parts_->in_turn([&](operations& work) { return work.poll_browser(waiting.device_code, key); });
    if (key) return activate(*key);
    if (!found || is_passing(*found)) continue;
    why = found;
    break;
  }
  return {std::move(why), state()};
}
outcome client::validate() { return parts_->validate(); }
bool client::refresh_after_purchase() {
  return keyledger::refresh_after_purchase(
      *parts_->options.clock, [this] { return state(); }, [this] { validate(); });
}
outcome client::deactivate() {
  return parts_->run([](operations& work) { return work.deactivate(); });
}
outcome client::start_trial() {
  return parts_->run([](operations& work) { return work.start_trial(); });
}
outcome client::borrow(double seconds) {
  return parts_->run([=](operations& work) { return work.borrow(seconds); });
}
carried client::create_offline_request(const std::string& license_key) {
  return parts_->in_turn([&](operations& work) { return work.create_request(replaced(license_key)); });
}
outcome client::import_license(const std::string& text) {
  return parts_->run([&](operations& work) { return work.import_text(replaced(text)); });
}
std::optional<carried> client::release() {
  return parts_->in_turn([](operations& work) { return work.give_back(); });
}
outcome client::close() {
  return parts_->run([](operations& work) { return work.give_seat_back(); });
}

std::int64_t client::next_validation_ms() const { return parts_->next_ms; }
std::uint64_t client::subscribe(std::function<void(const keyledger::state&)> listener) { return parts_->work.held.subscribe(std::move(listener)); }
std::uint64_t client::on_notice(std::function<void(const notice&)> listener) { return parts_->work.held.on_notice(std::move(listener)); }
void client::unsubscribe(std::uint64_t number) { parts_->work.held.unsubscribe(number); }
void client::announce() { parts_->work.held.announce(); }

}  // namespace keyledger
