#include "keyledger/client.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "json.hpp"
#include "keyledger/client.hpp"
#include "keyledger/license_key.hpp"
#if defined(KEYLEDGER_WITH_CURL)
#include "keyledger/curl.hpp"
#endif

using namespace keyledger;

struct keyledger_options {
  client_options made;
  std::string storage_path;
  std::string proxy;
  std::vector<std::string> relays;
  /** Absent while the machine is asked itself. */
  std::optional<device_identity> identity;
};
struct keyledger_client {
  client made;
};
struct keyledger_text_sink {
  std::optional<std::string> text;
};
struct keyledger_response {
  std::optional<http_response> made;
};

namespace {

/** No exception leaves: what it is given for one is returned. */
template <class Result, class Step>
Result guarded(Result otherwise, const Step& step) noexcept {
  try {
    return step();
  } catch (...) {
    return otherwise;
  }
}

char *owned(const std::string& text) noexcept {
  auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

/** What a step says as JSON; NULL without a client. */
template <class Step>
char *told(keyledger_client *client, const Step& step) noexcept {
  if (client == nullptr) return nullptr;
  return guarded<char *>(nullptr, [&] { return owned(step(client->made)); });
}

std::string json_of(const outcome& of) {
  const std::string state = ",\"state\":" + to_json(of.state) + '}';
  return of.problem ? "{\"ok\":false,\"problem\":" + to_json(*of.problem) + state : "{\"ok\":true" + state;
}

template <class Step>
std::string json_of_carried(const Step& step) {
  try {
    const std::optional<carried> given = step();
    return (given ? json::object({{"text", given->text}, {"token", given->token}}) : json(nullptr)).dump();
  } catch (const std::runtime_error& error) {
    return json::object({{"error", error.what()}}).dump();
  }
}

class storage_of_app : public storage {
 public:
  explicit storage_of_app(const keyledger_storage& from) : from_(from) {}
  std::optional<std::string> read() override {
    keyledger_text_sink into;
    if (from_.read(from_.context, &into) != 0) throw std::runtime_error("the storage cannot be read");
    return into.text;
  }
  void write(const std::string& text) override {
    if (from_.write(from_.context, text.c_str(), text.size()) != 0) throw std::runtime_error("the storage cannot be written");
  }

 private:
  keyledger_storage from_;
};

class transport_of_app : public transport {
 public:
  explicit transport_of_app(const keyledger_transport& from) : from_(from) {}
  std::optional<http_response> send(const http_request& request) override {
    std::vector<const char *> names;
    std::vector<const char *> values;
    for (const auto& [name, value] : request.headers) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    const keyledger_request asked{request.method.c_str(), request.url.c_str(), names.size(),        names.data(),
                                  values.data(),          request.body.c_str(), request.body.size(), request.timeout_ms};
    keyledger_response into;
    return from_.send(from_.context, &asked, &into) == 0 ? into.made : std::nullopt;
  }

 private:
  keyledger_transport from_;
};

class clock_of_app : public clock {
 public:
  explicit clock_of_app(const keyledger_clock& from) : from_(from) {}
  std::int64_t now_ms() override { return from_.now_ms(from_.context); }
  void sleep_ms(std::int64_t ms) override { from_.sleep_ms(from_.context, ms); }

 private:
  keyledger_clock from_;
};

bool set_text(keyledger_options& options, int option, const char *value) {
  switch (option) {
    case KEYLEDGER_BASE_URL:
      options.made.base_url = value;
      return true;
    case KEYLEDGER_SDK_KEY:
      options.made.sdk_key = value;
      return true;
    case KEYLEDGER_DEVICE_NAME:
      options.made.device_name = value;
      return true;
    case KEYLEDGER_APP_VERSION:
      options.made.app_version = value;
      return true;
    case KEYLEDGER_APP_CHANNEL:
      options.made.app_channel = value;
      return true;
    case KEYLEDGER_PLATFORM:
      options.made.platform = value;
      return true;
    case KEYLEDGER_USER_ID:
      options.made.user_id = value;
      return true;
    case KEYLEDGER_STORAGE_PATH:
      options.storage_path = value;
      return true;
    case KEYLEDGER_PROXY:
      options.proxy = value;
      return true;
    case KEYLEDGER_MACHINE_HASH:
      if (!options.identity) options.identity.emplace();
      options.identity->machine_hash = value;
      return true;
  }
  return false;
}

bool set_number(client_options& options, int option, std::int64_t value) {
  switch (option) {
    case KEYLEDGER_APP_BUILT_AT:
      options.app_built_at = value;
      return true;
    case KEYLEDGER_DEFAULT_TRIAL_DAYS:
      options.default_trial_days = value;
      return true;
    case KEYLEDGER_ENFORCE_SETTINGS:
      options.enforce_settings = value != 0;
      return true;
    case KEYLEDGER_REFRESH_SECONDS:
      options.refresh_seconds = value;
      return true;
    case KEYLEDGER_TIMEOUT_MS:
      options.timeout_ms = value;
      return true;
    case KEYLEDGER_EXPIRING_DAYS:
      options.expiring_days = value;
      return true;
  }
  return false;
}

/** The options with what they have by default. */
client_options whole(const keyledger_options& options) {
  client_options made = options.made;
  if (!made.storage && options.storage_path.empty()) made.storage = std::make_shared<memory_storage>();
  if (!made.storage) made.storage = std::make_shared<file_storage>(options.storage_path);
  if (!options.relays.empty()) made.relays = [relays = options.relays] { return relays; };
#if defined(KEYLEDGER_WITH_CURL)
  if (!made.transport) made.transport = std::make_shared<curl_transport>(options.proxy);
#endif
  made.identity = [said = options.identity, tenant = made.tenant_id, product = made.product_id] {
    return said ? *said : identify_device(tenant, product);
  };
  return made;
}

/** Runs a step with options and texts that are there. */
template <class Step, class... Texts>
int with(keyledger_options *options, const Step& step, const Texts *...texts) noexcept {
  if (options == nullptr || (... || (texts == nullptr))) return 0;
  return guarded(0, [&] { return step(*options) ? 1 : 0; });
}

}  // namespace

extern "C" {

const char *keyledger_version(void) { return KEYLEDGER_VERSION; }
void keyledger_text_free(char *text) { std::free(text); }

int keyledger_is_minted_key(const char *typed) {
  return typed == nullptr ? 0 : guarded(0, [&] { return is_minted_key(typed) ? 1 : 0; });
}
char *keyledger_normalize_license_key(const char *typed) {
  return typed == nullptr ? nullptr : guarded<char *>(nullptr, [&] { return owned(normalize_license_key(typed)); });
}
char *keyledger_license_key_hash(const char *typed) {
  return typed == nullptr ? nullptr : guarded<char *>(nullptr, [&] { return owned(license_key_hash(typed)); });
}

keyledger_options *keyledger_options_new(const char *tenant_id, const char *product_id) {
  if (tenant_id == nullptr || product_id == nullptr) return nullptr;
  return guarded<keyledger_options *>(nullptr, [&] {
    auto made = std::make_unique<keyledger_options>();
    made->made.tenant_id = tenant_id;
    made->made.product_id = product_id;
    return made.release();
  });
}
void keyledger_options_free(keyledger_options *options) { delete options; }

int keyledger_options_set_text(keyledger_options *options, int option, const char *value) {
  return with(options, [&](keyledger_options& to) { return set_text(to, option, value); }, value);
}
int keyledger_options_set_number(keyledger_options *options, int option, int64_t value) {
  return with(options, [&](keyledger_options& to) { return set_number(to.made, option, value); });
}
int keyledger_options_add_key(keyledger_options *options, const char *kid, const char *key) {
  const auto add = [&](keyledger_options& to) {
    to.made.keys[kid] = key;
    return true;
  };
  return with(options, add, kid, key);
}
int keyledger_options_add_relay(keyledger_options *options, const char *address) {
  const auto add = [&](keyledger_options& to) {
    to.relays.emplace_back(address);
    return true;
  };
  return with(options, add, address);
}
int keyledger_options_add_component(keyledger_options *options, const char *name, const char *hash) {
  const auto add = [&](keyledger_options& to) {
    if (!to.identity) to.identity.emplace();
    to.identity->components[name] = hash;
    return true;
  };
  return with(options, add, name, hash);
}

void keyledger_text_put(keyledger_text_sink *into, const char *text, size_t size) {
  guarded(0, [&] {
    into->text.emplace(text, size);
    return 0;
  });
}
int keyledger_options_set_storage(keyledger_options *options, const keyledger_storage *storage) {
  const auto set = [&](keyledger_options& to) {
    if (storage->read == nullptr || storage->write == nullptr) return false;
    to.made.storage = std::make_shared<storage_of_app>(*storage);
    return true;
  };
  return with(options, set, storage);
}
void keyledger_response_put(keyledger_response *into, int status, const char *body, size_t size, const char *retry_after) {
  guarded(0, [&] {
    into->made = http_response{status, std::string(body, size), retry_after == nullptr ? std::nullopt : std::optional<std::string>(retry_after)};
    return 0;
  });
}
int keyledger_options_set_transport(keyledger_options *options, const keyledger_transport *transport) {
  const auto set = [&](keyledger_options& to) {
    if (transport->send == nullptr) return false;
    to.made.transport = std::make_shared<transport_of_app>(*transport);
    return true;
  };
  return with(options, set, transport);
}
int keyledger_options_set_clock(keyledger_options *options, const keyledger_clock *clock) {
  const auto set = [&](keyledger_options& to) {
    if (clock->now_ms == nullptr || clock->sleep_ms == nullptr) return false;
    to.made.clock = std::make_shared<clock_of_app>(*clock);
    return true;
  };
  return with(options, set, clock);
}

keyledger_client *keyledger_client_new(const keyledger_options *options, char **error) {
  const auto fail = [error](const char *why) {
    if (error != nullptr) *error = owned(why);
    return static_cast<keyledger_client *>(nullptr);
  };
  if (error != nullptr) *error = nullptr;
  if (options == nullptr) return fail("there are no options");
  try {
    return new keyledger_client{client(whole(*options))};
  } catch (const std::exception& why) {
    return guarded<keyledger_client *>(nullptr, [&] { return fail(why.what()); });
  } catch (...) {
    return nullptr;
  }
}
void keyledger_client_free(keyledger_client *client) { delete client; }

char *keyledger_client_start(keyledger_client *client) {
  return told(client, [](class client& of) { return to_json(of.start()); });
}
char *keyledger_client_state(keyledger_client *client) {
  return told(client, [](class client& of) { return to_json(of.state()); });
}
int keyledger_client_has(keyledger_client *client, const char *entitlement) {
  if (client == nullptr || entitlement == nullptr) return 0;
  return guarded(0, [&] { return client->made.has(entitlement) ? 1 : 0; });
}
char *keyledger_client_value(keyledger_client *client, const char *entitlement) {
  if (client == nullptr || entitlement == nullptr) return nullptr;
  return guarded<char *>(nullptr, [&]() -> char * {
    const auto value = client->made.value(entitlement);
    return value ? owned(std::visit([](const auto& one) { return json(one).dump(); }, *value)) : nullptr;
  });
}

char *keyledger_client_activate(keyledger_client *client, const char *license_key) {
  if (license_key == nullptr) return nullptr;
  return told(client, [&](class client& of) { return json_of(of.activate(license_key)); });
}
char *keyledger_client_activate_in_browser(keyledger_client *client, const keyledger_browser *browser) {
  if (browser == nullptr || browser->show == nullptr) return nullptr;
  const auto show = [=](const activation_page& page) { browser->show(browser->context, page.url.c_str(), page.code.c_str()); };
  const auto is_given_up = [=] { return browser->is_given_up != nullptr && browser->is_given_up(browser->context) != 0; };
  return told(client, [&](class client& of) { return json_of(of.activate_in_browser(show, is_given_up)); });
}
char *keyledger_client_validate(keyledger_client *client) {
  return told(client, [](class client& of) { return json_of(of.validate()); });
}
char *keyledger_client_deactivate(keyledger_client *client) {
  return told(client, [](class client& of) { return json_of(of.deactivate()); });
}
char *keyledger_client_start_trial(keyledger_client *client) {
  return told(client, [](class client& of) { return json_of(of.start_trial()); });
}
char *keyledger_client_borrow(keyledger_client *client, double seconds) {
  return told(client, [=](class client& of) { return json_of(of.borrow(seconds)); });
}
char *keyledger_client_import_license(keyledger_client *client, const char *text) {
  if (text == nullptr) return nullptr;
  return told(client, [&](class client& of) { return json_of(of.import_license(text)); });
}
char *keyledger_client_close(keyledger_client *client) {
  return told(client, [](class client& of) { return json_of(of.close()); });
}

int keyledger_client_refresh_after_purchase(keyledger_client *client) {
  return client == nullptr ? 0 : guarded(0, [&] { return client->made.refresh_after_purchase() ? 1 : 0; });
}

char *keyledger_client_create_offline_request(keyledger_client *client, const char *license_key) {
  if (license_key == nullptr) return nullptr;
  return told(client, [&](class client& of) {
    return json_of_carried([&] { return std::optional(of.create_offline_request(license_key)); });
  });
}
char *keyledger_client_release(keyledger_client *client) {
  return told(client, [](class client& of) { return json_of_carried([&] { return of.release(); }); });
}

int64_t keyledger_client_next_validation_ms(const keyledger_client *client) { return client == nullptr ? 0 : client->made.next_validation_ms(); }

uint64_t keyledger_client_subscribe(keyledger_client *client, keyledger_listener listener, void *context) {
  if (client == nullptr || listener == nullptr) return 0;
  return guarded<uint64_t>(0, [&] {
    return client->made.subscribe([listener, context](const state& present) { listener(context, to_json(present).c_str()); });
  });
}
uint64_t keyledger_client_on_notice(keyledger_client *client, keyledger_listener listener, void *context) {
  if (client == nullptr || listener == nullptr) return 0;
  return guarded<uint64_t>(0, [&] {
    return client->made.on_notice([listener, context](const notice& told) { listener(context, to_json(told).c_str()); });
  });
}
void keyledger_client_unsubscribe(keyledger_client *client, uint64_t number) {
  if (client == nullptr) return;
  guarded(0, [&] {
    client->made.unsubscribe(number);
    return 0;
  });
}
void keyledger_client_announce(keyledger_client *client) {
  if (client == nullptr) return;
  guarded(0, [&] {
    client->made.announce();
    return 0;
  });
}

}  // extern "C"
