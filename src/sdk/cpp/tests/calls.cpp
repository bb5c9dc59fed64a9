/**
 * Guarantee: whatever the parts fail at that an app hands in, a call ends with an outcome and the state stays; and calls of many threads
 * send one request at a time. It ends with the number of checks, or names the first that fails.
 */
#include <atomic>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "keyledger/client.hpp"

using namespace keyledger;

namespace {

int checks = 0;

void expect(bool is_so, const std::string& otherwise) {
  ++checks;
  if (!is_so) throw std::logic_error(otherwise);
}

/** A server that knows only settings without a signature. */
class settings_server : public transport {
 public:
  std::vector<http_response> before;
  std::atomic<int> sent{0};
  std::string last_body;
  std::optional<http_response> send(const http_request& request) override {
    expect(!is_busy_.exchange(true), "two requests are sent at the same time");
    std::this_thread::yield();
    last_body = request.body;
    http_response made{200, R"({"free_tier_enabled":true})", {}};
    const auto number = static_cast<std::size_t>(sent++);
    if (number < before.size()) made = before[number];
    is_busy_ = false;
    return made;
  }

 private:
  std::atomic<bool> is_busy_{false};
};

class counted_clock : public clock {
 public:
  std::atomic<std::int64_t> ms{1793530000000};
  std::int64_t slept = 0;
  std::int64_t now_ms() override { return ms; }
  void sleep_ms(std::int64_t pause) override {
    slept += pause;
    ms += pause;
  }
};

class broken_storage : public storage {
 public:
  std::optional<std::string> read() override { throw std::runtime_error("cannot be read"); }
  void write(const std::string&) override { throw std::runtime_error("cannot be written"); }
};

struct parts {
  std::shared_ptr<settings_server> server = std::make_shared<settings_server>();
  std::shared_ptr<counted_clock> time = std::make_shared<counted_clock>();

  client_options options() const {
    client_options made;
    made.tenant_id = "acme";
    made.product_id = "editor";
    made.base_url = "https://licenses.example.com/";
    made.storage = std::make_shared<memory_storage>();
    made.transport = server;
    made.clock = time;
    made.random = [] { return 0.5; };
    return made;
  }
};

void storage_that_fails() {
  const parts with;
  auto options = with.options();
  options.storage = std::make_shared<broken_storage>();
  client* self = nullptr;
  int reported = 0;
  options.on_storage_error = [&](const std::string&) {
    ++reported;
    self->state();
  };
  client app(std::move(options));
  self = &app;
  expect(app.start().is == status::unlicensed, "a storage that cannot be read ends the start");
  expect(app.validate() && app.state().is == status::free_tier, "a storage that cannot be written ends a call");
  expect(reported > 1, "its errors are not reported");
  try {
    app.create_offline_request("ACME-1");
    expect(false, "a request is given out that is not stored");
  } catch (const std::runtime_error&) {
    ++checks;
  }
}

void listeners() {
  const parts with;
  client app(with.options());
  int called = 0;
  const auto throwing = app.subscribe([](const state&) { throw std::runtime_error("a listener fails"); });
  app.subscribe([&](const state& present) {
    if (present.is == status::free_tier) ++called;
    app.has("pro");
  });
  app.start();
  expect(static_cast<bool>(app.validate()), "a listener that throws ends a call");
  app.validate();
  expect(called == 1, "a listener is not called once for a state");
  app.unsubscribe(throwing);
  app.announce();
  expect(called == 1, "a state is announced twice");
}

void purchases() {
  const parts with;
  client app(with.options());
  app.start();
  app.validate();
  with.server->sent = 0;
  const std::int64_t from = with.time->ms;
  expect(!app.refresh_after_purchase(), "a purchase is found that was not made");
  expect(with.server->sent == 11 && with.time->ms - from == 30000, "a purchase is not asked for eleven times in half a minute");
  with.server->before.assign(3, {403, R"({"error":"forbidden"})", std::nullopt});
  with.server->sent = 0;
  expect(!app.refresh_after_purchase() && with.server->sent == 11, "a problem ends the search for a purchase");
}

void browser() {
  const parts with;
  const std::string page = R"({"device_code":"d","user_code":"ABCD","verification_uri_complete":"https://licenses.example.com/p","interval":5,"expires_in":20})";
  with.server->before = {{200, page, {}}, {403, R"({"error":"forbidden"})", {}}};
  client app(with.options());
  app.start();
  std::string shown;
  const auto show = [&](const activation_page& one) { shown = one.url + ' ' + one.code; };
  const std::int64_t from = with.time->ms;
  const auto problem = app.activate_in_browser(show, [&] { return with.time->ms - from >= 10000; }).problem;
  expect(shown == "https://licenses.example.com/p ABCD", "the page is not shown");
  expect(problem && problem->code == problem_code::forbidden, "a problem that stays does not end the wait");
  with.server->before = {{200, page, {}}, {200, R"({"status":"pending"})", {}}, {200, R"({"status":"pending"})", {}}};
  with.server->sent = 0;
  const std::int64_t then = with.time->ms;
  const auto given_up = app.activate_in_browser(show, [&] { return with.time->ms - then >= 10000; }).problem;
  expect(given_up && given_up->code == problem_code::refused && with.server->sent == 3, "the wait does not end when it is given up");
  with.server->before = {{200, R"({"device_code":"d","user_code":"A","verification_uri_complete":"javascript:x","interval":5,"expires_in":20})", {}}};
  with.server->sent = 0;
  shown.clear();
  expect(app.activate_in_browser(show).problem && shown.empty(), "what is no address of a page is shown");
}

void identity_that_throws() {
  const parts with;
  auto options = with.options();
  options.identity = []() -> device_identity { throw std::runtime_error("there is no identity"); };
  client app(std::move(options));
  expect(static_cast<bool>(app.validate()), "an identity that throws ends a call");
}

void attempts() {
  const parts with;
  with.server->before = {{503, "{}", "2"}, {503, "{}", std::nullopt}};
  client app(with.options());
  expect(static_cast<bool>(app.validate()) && with.server->sent == 3, "a call is not tried three times");
  expect(with.time->slept == 2000 + 250 + 500, "the pauses are not those that were asked for");
  const std::int64_t next = app.next_validation_ms() - with.time->ms;
  expect(next == 43200000, "a client does not validate twice a day");
  with.server->before.assign(6, {503, "{}", std::nullopt});
  with.server->sent = 0;
  expect(app.validate().problem->code == problem_code::unavailable, "a server that fails is not unavailable");
  const std::int64_t soon = app.next_validation_ms() - with.time->ms;
  app.validate();
  expect(soon == 31000 && app.next_validation_ms() - with.time->ms > soon, "the pauses after failures do not grow");
  expect(app.state().is == status::free_tier, "a failure takes the state away");
}

void texts_that_are_no_utf8() {
  const parts with;
  auto options = with.options();
  options.device_name = "Mill \xff";
  client app(std::move(options));
  app.activate("ACME-\xc3");
  expect(with.server->last_body.find("ACME-\xef\xbf\xbd\"") != std::string::npos, "a license key is sent that is no UTF-8");
  expect(with.server->last_body.find("Mill \xef\xbf\xbd\"") != std::string::npos, "a name is sent that is no UTF-8");
}

void threads() {
  const parts with;
  client app(with.options());
  app.start();
  std::vector<std::thread> all;
  for (int number = 0; number < 4; ++number) {
    all.emplace_back([&app, &with, number] {
      for (int times = 0; times < 50; ++times) {
        if (number == 0) app.activate("ACME-1");
        app.validate();
        app.state();
        app.has("pro");
        with.time->ms += 1000;
        app.unsubscribe(app.subscribe([](const state&) {}));
        app.unsubscribe(app.on_notice([](const notice&) { throw std::runtime_error("a listener fails"); }));
        app.next_validation_ms();
      }
    });
  }
  for (auto& one : all) one.join();
  client moved = std::move(app);
  expect(moved.state().is == status::free_tier, "the state is lost among threads");
}

template <class Change>
void refused(const Change& change, const char* otherwise) {
  auto options = parts().options();
  change(options);
  try {
    const client app(std::move(options));
  } catch (const std::invalid_argument&) {
    ++checks;
    return;
  }
  expect(false, otherwise);
}

}  // namespace

int main() {
  try {
    storage_that_fails();
    listeners();
    purchases();
    browser();
    identity_that_throws();
    attempts();
    texts_that_are_no_utf8();
    threads();
    refused([](client_options& options) { options.storage = nullptr; }, "a client without a storage is made");
    refused([](client_options& options) { options.transport = nullptr; }, "a client without a transport is made");
    refused([](client_options& options) { options.product_id = ".."; }, "a client of a product with no id is made");
    refused([](client_options& options) { options.timeout_ms = 0; }, "a client without a time limit is made");
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << '\n';
    return 1;
  }
  std::cout << checks << " checks passed\n";
}
