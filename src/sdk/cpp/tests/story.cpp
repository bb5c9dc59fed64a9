/**
 * An app that is told what to do: each line of its input is a step as JSON, and each line of its output what that has led to. The time
 * is in the steps, and pauses are over at once.
 */
#include <iostream>

#include "json.hpp"
#include "keyledger/client.hpp"
#include "keyledger/curl.hpp"

using namespace keyledger;

namespace {

class told_clock : public clock {
 public:
  std::int64_t ms = 0;
  std::int64_t now_ms() override { return ms; }
  void sleep_ms(std::int64_t) override {}
};

std::unique_ptr<client> opened(const json& step, const std::shared_ptr<told_clock>& time) {
  client_options options;
  options.tenant_id = step["tenantId"].text();
  options.product_id = step["productId"].text();
  options.base_url = step["baseUrl"].text();
  options.sdk_key = step["sdkKey"].text();
  options.storage = std::make_shared<file_storage>(step["storage"].text());
  options.transport = std::make_shared<curl_transport>();
  options.clock = time;
  const std::string machine = step["machineHash"].text();
  options.identity = [machine] { return device_identity{machine, {}}; };
  options.on_storage_error = [](const std::string& message) { std::cerr << message << '\n'; };
  return std::make_unique<client>(std::move(options));
}

json state_json(const state& present) { return parse_json(to_json(present)).value(); }

json told(const outcome& of) {
  json made = json::object();
  if (of.problem) made.set("problem", name_of(of.problem->code));
  return made.set("state", state_json(of.state));
}

json told(const client& app, const std::optional<carried>& given) {
  json made = json::object();
  if (given) made.set("text", given->text);
  return made.set("state", state_json(app.state()));
}

json done(client& app, const json& step) {
  const std::string& name = step["do"].text();
  const std::string& text = step["text"].text();
  if (name == "look") return told({std::nullopt, app.state()});
  if (name == "activate") return told(app.activate(text));
  if (name == "validate") return told(app.validate());
  if (name == "startTrial") return told(app.start_trial());
  if (name == "deactivate") return told(app.deactivate());
  if (name == "importLicense") return told(app.import_license(text));
  if (name == "borrow") return told(app.borrow(std::stod(text)));
  if (name == "close") return told(app.close());
  if (name == "request") return told(app, app.create_offline_request(text));
  if (name == "release") return told(app, app.release());
  throw std::invalid_argument(name + " is no step");
}

}  // namespace

int main() {
  const auto time = std::make_shared<told_clock>();
  std::unique_ptr<client> app;
  for (std::string line; std::getline(std::cin, line);) {
    const json step = parse_json(line).value();
    time->ms = integer(step["now"]);
    const bool is_opened = step["do"].text() == "open";
    if (is_opened) app = opened(step, time);
    const json answer = is_opened ? json::object({{"before", state_json(app->state())}}) : done(*app, step);
    std::cout << answer.dump() << std::endl;
  }
}
