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

json state_json(const state& present) { return parse_json(to_json(present)).value(); }

/** The app as it was started last, and what it was told since its last answer. */
struct running {
  std::shared_ptr<told_clock> time = std::make_shared<told_clock>();
  std::unique_ptr<client> app;
  std::vector<json> notices;
};

client_options options_in(const json& step) {
  client_options options;
  options.tenant_id = step["tenantId"].text();
  options.product_id = step["productId"].text();
  options.base_url = step["baseUrl"].text();
  options.sdk_key = step["sdkKey"].text();
  options.storage = std::make_shared<file_storage>(step["storage"].text());
  options.transport = std::make_shared<curl_transport>();
  for (const auto& [kid, key] : step["keys"].members()) options.keys[kid] = key.text();
  device_identity device;
  if (step["machineHash"].is_text()) device.machine_hash = step["machineHash"].text();
  for (const auto& [name, hash] : step["components"].members()) device.components[name] = hash.text();
  if (device.machine_hash || step["components"].is_object()) options.identity = [device] { return device; };
  if (step["appBuiltAt"].is_number()) options.app_built_at = integer(step["appBuiltAt"]);
  options.enforce_settings = step["enforceSettings"].is_true();
  if (step["defaultTrialDays"].is_number()) options.default_trial_days = integer(step["defaultTrialDays"]);
  if (step["userId"].is_text()) options.user_id = step["userId"].text();
  if (step["deviceName"].is_text()) options.device_name = step["deviceName"].text();
  options.on_storage_error = [](const std::string& message) { std::cerr << message << '\n'; };
  return options;
}

json opened(running& with, const json& step) {
  client_options options = options_in(step);
  options.clock = with.time;
  with.app = std::make_unique<client>(std::move(options));
  with.app->on_notice([&with](const notice& one) { with.notices.push_back(parse_json(to_json(one)).value()); });
  json made = json::object({{"before", state_json(with.app->state())}});
  with.app->start();
  return made;
}

json told(const outcome& of) {
  json made = json::object();
  if (of.problem) made.set("problem", name_of(of.problem->code));
  return made;
}

json told(const std::optional<carried>& given) {
  json made = json::object();
  if (given) made.set("text", given->text);
  return made;
}

json told(const std::optional<entitlement_value>& value) {
  json made = json::object();
  if (value) made.set("value", std::visit([](const auto& one) { return json(one); }, *value));
  return made;
}

json done(running& with, const json& step) {
  const std::string& name = step["do"].text();
  const std::string& text = step["text"].text();
  if (name == "open") return opened(with, step);
  client& app = *with.app;
  if (name == "look") return json::object();
  if (name == "activate") return told(app.activate(text));
  if (name == "activateInBrowser") return told(app.activate_in_browser([](const activation_page&) {}));
  if (name == "validate") return told(app.validate());
  if (name == "startTrial") return told(app.start_trial());
  if (name == "deactivate") return told(app.deactivate());
  if (name == "importLicense") return told(app.import_license(text));
  if (name == "borrow") return told(app.borrow(std::stod(text)));
  if (name == "close") return told(app.close());
  if (name == "request") return told(app.create_offline_request(text));
  if (name == "release") return told(app.release());
  if (name == "has") return json::object({{"granted", app.has(text)}});
  if (name == "value") return told(app.value(text));
  if (name == "refreshAfterPurchase") return json::object({{"changed", app.refresh_after_purchase()}});
  throw std::invalid_argument(name + " is no step");
}

}  // namespace

int main() {
  running with;
  for (std::string line; std::getline(std::cin, line);) {
    const json step = parse_json(line).value();
    with.time->ms = integer(step["now"]);
    json answer = done(with, step);
    answer.set("state", state_json(with.app->state())).set("notices", json::array(std::move(with.notices)));
    with.notices.clear();
    std::cout << answer.dump() << std::endl;
  }
}
