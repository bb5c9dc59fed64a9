/**
 * A client that a test leads: each line of its input is a call as JSON, and each line of its output what came of it. The time stands
 * still but for what a call says, so that another client can be led through the same.
 */
#include <iostream>

#include "json.hpp"
#include "keyledger/client.hpp"
#include "keyledger/curl.hpp"

using namespace keyledger;

namespace {

class led_clock : public clock {
 public:
  std::int64_t ms = 0;
  std::int64_t now_ms() override { return ms; }
  // The pauses of this device are over at once.
  void sleep_ms(std::int64_t) override {}
};

json told(const outcome& of) {
  json made = json::object({{"state", parse_json(to_json(of.state)).value()}});
  if (of.problem) made.set("problem", name_of(of.problem->code));
  return made;
}

json call(client& led, const json& asked) {
  const std::string name = asked["call"].text();
  const std::string text = asked["text"].text();
  if (name == "start") {
    led.start();
    return told({std::nullopt, led.state()});
  }
  if (name == "state") return told({std::nullopt, led.state()});
  if (name == "activate") return told(led.activate(text));
  if (name == "validate") return told(led.validate());
  if (name == "deactivate") return told(led.deactivate());
  if (name == "startTrial") return told(led.start_trial());
  if (name == "importLicense") return told(led.import_license(text));
  if (name == "close") return told(led.close());
  if (name == "createOfflineRequest") return json::object({{"text", led.create_offline_request(text).text}});
  if (name == "release") {
    const auto given = led.release();
    return json::object({{"text", given ? json(given->text) : json(nullptr)}});
  }
  throw std::invalid_argument("there is no call " + name);
}

}  // namespace

int main() {
  const auto time = std::make_shared<led_clock>();
  std::unique_ptr<client> led;
  for (std::string line; std::getline(std::cin, line);) {
    const json asked = parse_json(line).value();
    time->ms = integer(asked["now"]);
    if (asked["call"].text() == "open") {
      client_options options;
      options.tenant_id = asked["tenantId"].text();
      options.product_id = asked["productId"].text();
      options.base_url = asked["baseUrl"].text();
      options.sdk_key = asked["sdkKey"].text();
      options.device_name = asked["deviceName"].text();
      options.storage = std::make_shared<file_storage>(asked["storage"].text());
      options.transport = std::make_shared<curl_transport>();
      options.clock = time;
      const std::string machine = asked["machineHash"].text();
      options.identity = [machine] { return device_identity{machine, {}}; };
      led = std::make_unique<client>(std::move(options));
      std::cout << "{}" << std::endl;
      continue;
    }
    std::cout << call(*led, asked).dump() << std::endl;
  }
}
