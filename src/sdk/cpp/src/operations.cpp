#include "operations.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "keyledger/license_key.hpp"
#include "paseto.hpp"
#include "signature.hpp"

namespace keyledger {
namespace {

problem with(problem_code code, const char* message) { return {code, message, {}, {}, {}}; }

/** A success or a signed refusal that does not verify, or is older than what is held. */
problem not_genuine(const answered& answer) {
  const bool is_success = answer.status < 400 && !not_covered_in(answer.body);
  if (!is_success && answer.body["refusal"].is(json::kind::undefined)) return problem_of(answer);
  return with(problem_code::not_genuine, "the answer carries no valid signature, or an older one");
}

/** Whether the server has answered, though not with a success: a wrong key, no seat left. */
bool is_answer(const problem& why) { return !is_passing(why) && why.code != problem_code::no_server; }

bool has_lost_seat(const answered& answer) {
  const std::string& reason = answer.body["reason"].text();
  return answer.status == 422 && (reason == "seat_lost" || reason == "assigned_to_another" || reason == "inactive");
}

/** The seat does not exist any more, or never did. Without a reason, 422 means that it must not be freed. */
bool has_no_seat(const answered& answer) {
  const json& body = answer.body;
  if (!body["error"].is_text()) return false;
  const bool is_of_license = body["reason"].same(json("not_found")) || body["error"].text() == "instance not found";
  return (answer.status == 422 && !body["reason"].is(json::kind::undefined)) || (answer.status == 404 && is_of_license);
}

const char* message_of(problem_code doubt) {
  switch (doubt) {
    case problem_code::unknown_key:
      return "it was signed with a key that this app does not know";
    case problem_code::bad_signature:
      return "it was changed on the way, or was made for another product";
    case problem_code::another_device:
      return "it was made for another machine";
    case problem_code::not_asked:
      return "it answers another request than the last one of this device";
    case problem_code::outdated:
      return "it is older than what this device has, or was given back";
    case problem_code::not_yet:
      return "the clock of this machine is before it";
    case problem_code::over:
      return "it has ended; ask for the next one";
    default:
      return "this is neither a license file nor a list of withdrawn files";
  }
}

void with_offline(facts& all) {
  if (!all.offline) all.offline = new_offline_facts(random_hex(32));
}

json device_json(const leased_device& device) {
  json components = json::object();
  for (const auto& [name, value] : device.components) components.set(name, value);
  return components;
}

}  // namespace

operations::operations(const client_options& options)
    : held(options, {options.tenant_id, options.product_id}), options_(options), at_{options.tenant_id, options.product_id}, vendor_(options, options.base_url) {}

std::string operations::name_of_device(const facts& all) const { return options_.device_name.value_or("Device " + all.install_id.substr(0, 8)); }

void operations::add_telemetry(json& body) {
  body.set("sdk", "cpp").set("sdk_version", KEYLEDGER_VERSION).set("app_version", options_.app_version).set("platform", options_.platform);
}

/** What an app says of its device and its build to get a lease, and the form of lease that is signed as a whole. */
void operations::add_said(json& body) {
  if (const auto device = held.device()) body.set("machine_hash", device->machine_hash).set("device", device_json(*device));
  add_telemetry(body);
  body.set("app_built_at", options_.app_built_at).set("app_channel", options_.app_channel).set("lease_version", 2);
}

calls& operations::that(const std::optional<std::string>& relay) {
  if (!relay) return vendor_;
  auto& known = relays_[*relay];
  if (!known) known = std::make_unique<calls>(options_, *relay);
  return *known;
}

std::vector<operations::server> operations::in_order() {
  std::vector<server> order;
  try {
    // Looked up anew each time: a laptop changes its network. Finding none must not keep the app from its vendor.
    if (options_.relays) {
      for (const auto& address : options_.relays()) order.push_back({address, &that(address)});
    }
  } catch (const std::exception&) {
    order.clear();
  }
  if (!options_.base_url.empty() || order.empty()) order.push_back({std::nullopt, &vendor_});
  return order;
}

std::string operations::take_signed(const std::function<std::string(facts&, std::int64_t)>& step) {
  const auto attempt = [&] {
    std::string as;
    held.change([&](facts& all, std::int64_t now) { as = step(all, now); });
    return as;
  };
  const std::string as = attempt();
  if (as != "unknown_key") return as;
  const key_map fetched = vendor_.keyset();
  if (fetched.empty()) return as;
  held.change([&](facts& all, std::int64_t) {
    for (const auto& [kid, key] : fetched) all.keys[kid] = key;
  });
  return attempt();
}

bool operations::take_settings_of(const answered& answer) {
  return is_new(take_signed([&](facts& all, std::int64_t now) { return take_settings(all, answer.body, at_, now, options_.enforce_settings); }));
}

/** Takes a proof and the settings beside it. @return whether the answer shows that the server was reached */
bool operations::take(const answered& answer, const asked_license& asked) {
  if (!is_new(take_signed([&](facts& all, std::int64_t now) { return take_proof(all, answer.body, asked, at_, now); }))) return false;
  take_settings_of(answer);
  return true;
}

failure operations::activate(const std::string& key) {
  const auto order = in_order();
  failure why;
  for (const auto& one : order) {
    // A relay that does not answer is not waited for while there is another server.
    const failure failed = activate_at(one, key, json::object(), &one == &order.back() ? 3 : 1, {});
    if (!failed) {
      held.reached(true);
      return std::nullopt;
    }
    // What a license says counts more than that a server cannot be reached.
    if (!why || is_passing(*why) || !is_passing(*failed)) why = failed;
  }
  held.reached(is_answer(*why));
  return why;
}

failure operations::activate_at(const server& at, const std::string& key, const json& more, int attempts, const also& take_also) {
  const facts all = held.load();
  json body = json::object({{"license_key", key}, {"instance_name", name_of_device(all)}, {"free_tier_instance_id", all.install_id}});
  // Each server knows its own.
  if (all.license && all.license->relay == at.relay) body.set("instance_id", all.license->instance_id);
  body.set("user_id", options_.user_id);
  add_said(body);
  for (const auto& [name, value] : more.members()) body.set(name, value);
  return at.at->send(
      "activate", body,
      [&](const answered& answer) -> failure {
        const json& instance = answer.body["instance_id"];
        if (answer.status != 200 || !instance.is_text() || !take(answer, {key, instance.text(), at.relay})) return not_genuine(answer);
        return take_also ? take_also(answer.body) : std::nullopt;
      },
      attempts);
}

failure operations::validate() {
  const facts all = held.load();
  if (!all.license) return report();
  const held_license& license = *all.license;
  if (license.is_away) return activate(license.key);
  const asked_license asked{license.key, license.instance_id, license.relay};
  json body = json::object({{"license_key", license.key}, {"instance_id", license.instance_id}});
  body.set("fence", license.seat);
  add_said(body);
  std::optional<answered> gone;
  const failure why = that(license.relay).send("validate", body, [&](const answered& answer) -> failure {
    if (license.seat && has_lost_seat(answer)) {
      gone = answer;
      return problem_of(answer);
    }
    if (take(answer, asked)) return std::nullopt;
    if (not_covered_in(answer.body)) held.change([&](facts& now_held, std::int64_t) { take_not_covered(now_held, answer.body); });
    return not_genuine(answer);
  });
  if (license.seat && (gone || is_out_of_reach(license, why))) {
    const failure failed = activate(license.key);
    // Only now: an app that gets the next seat at once has never been without one.
    if (failed && gone && held.present().until) take(*gone, asked);
    return failed;
  }
  // Also a license that the server does not know keeps its lease until the end: only a signed refusal ends it.
  held.reached(!why);
  return why;
}

/** A relay that is out of reach is given up when its lease is nearly over; it keeps the seat until then. */
bool operations::is_out_of_reach(const held_license& license, const failure& why) {
  if (!license.relay || !why || !is_passing(*why) || !license.newest || license.newest->is_refusal()) return false;
  const std::int64_t length = license.newest->expires_at - license.newest->issued_at;
  return (license.newest->expires_at - held.now()) * 3 < length;
}

failure operations::start_trial() {
  const failure why = held.load().settings ? std::nullopt : report();
  const facts all = held.load();
  if (all.license || all.trial || file_of(all.offline) != nullptr) return std::nullopt;
  std::optional<std::int64_t> days = all.settings ? all.settings->known.trial_duration_days : std::nullopt;
  if (!days) days = options_.default_trial_days;
  if (days.value_or(0) == 0) return why ? why : with(problem_code::no_trial, "this product has no trial");
  held.change(begin_trial);
  report();
  return std::nullopt;
}

/** Reports an install without a license, and takes the settings and the trial. */
failure operations::report() {
  const facts all = held.load();
  const status is = held.present().is;
  json body;
  if (all.trial || is == status::free_tier) {
    // Only a trial or a free tier is reported; before that the app only asks for its settings.
    const bool is_trial = is == status::trial || (all.trial && !all.trial->reported);
    body = json::object({{"instance_id", all.install_id}, {"state", is_trial ? "trial" : is == status::free_tier ? "free_tier" : "expired"}});
    if (const auto device = held.device()) body.set("machine_hash", device->machine_hash);
    add_telemetry(body);
  }
  const bool is_told = body.is_object();
  const failure why = vendor_.send(is_told ? "keyless" : "config", body, [&](const answered& answer) -> failure {
    if (answer.status != 200 || !take_settings_of(answer)) return not_genuine(answer);
    if (is_told) held.change([&](facts& now_held, std::int64_t) { take_trial(now_held, answer.body); });
    return std::nullopt;
  });
  held.reached(!why);
  return why;
}

failure operations::send_deactivate(const held_license& license, const std::optional<std::string>& release, int attempts) {
  json body = json::object({{"license_key", license.key}, {"instance_id", license.instance_id}});
  body.set("fence", license.seat).set("release", release);
  return that(license.relay)
      .send(
          "deactivate", body,
          [](const answered& answer) -> failure {
            const bool is_done = answer.status == 200 && answer.body["deactivated"].is_true();
            return is_done || has_no_seat(answer) ? std::nullopt : failure(problem_of(answer));
          },
          attempts);
}

failure operations::deactivate() {
  const facts all = held.load();
  const proof* file = file_of(all.offline);
  const bool has_file = file != nullptr && (!all.license || file->instance_id == all.license->instance_id) && held.now() <= file->expires_at;
  if (has_file && (!all.license || !all.license->seat))
    return with(problem_code::has_file, "the device has a license file; give it back with release");
  if (!all.license) return with(problem_code::no_license, "there is no license on this device");
  const auto released = has_file ? give_back() : std::nullopt;
  const failure why = send_deactivate(*all.license, released ? std::optional(released->text) : std::nullopt, 3);
  if (!why) held.change([&](facts& now_held, std::int64_t) { leave(now_held, all.license->instance_id); });
  return why;
}

failure operations::give_seat_back() {
  const facts all = held.load();
  const proof* file = file_of(all.offline);
  if (!all.license || !all.license->seat || (file != nullptr && file->instance_id == all.license->instance_id)) return std::nullopt;
  // Before it is sent: a seat that may be another's must not be used here.
  held.change([](facts& now_held, std::int64_t) { keyledger::give_seat_back(now_held); });
  return send_deactivate(*all.license, std::nullopt, 1);
}

failure operations::borrow(double seconds) {
  const facts all = held.load();
  if (!all.license) return with(problem_code::no_license, "there is no license on this device");
  const auto asked = create_request(all.license->key);
  const json more = json::object({{"borrow_seconds", std::floor(seconds)}, {"borrow_request", asked.text}});
  const failure why = activate_at({std::nullopt, &vendor_}, all.license->key, more, 3, [this](const json& body) -> failure {
    if (body["license_file"].is_text()) return import_text(body["license_file"].text());
    return with(problem_code::refused, "the license server lends no seats; its version is too old");
  });
  held.reached(!why);
  return why;
}

carried operations::create_request(const std::string& key) {
  facts all = held.load();
  with_offline(all);
  offline_facts offline = *all.offline;
  // The time, so that a machine that was restored from a backup is not behind its own earlier requests.
  offline.counter = std::max(offline.counter + 1, held.now());
  offline.asked = offline_facts::request{random_hex(16), license_key_hash(key)};
  store([&](facts& now_held, std::int64_t) { now_held.offline = offline; });
  const leased_device machine = machine_of(offline, held.device());
  json device = json::object({{"machine_hash", machine.machine_hash ? json(*machine.machine_hash) : json(nullptr)}, {"components", device_json(machine)}});
  return sign("request1", offline,
              json::object({{"nonce", offline.asked->nonce},
                            {"counter", offline.counter},
                            {"license_key_hash", offline.asked->license_key_hash},
                            {"instance_name", name_of_device(all)},
                            {"device", device}}));
}

failure operations::import_text(const std::string& text) {
  held.load();
  const std::string token = token_in(text);
  const auto device = held.device();
  const std::string as = take_signed([&](facts& all, std::int64_t now) {
    with_offline(all);
    return take_carried(all, token, at_, device, now);
  });
  const auto doubt = code_named(as);
  return doubt ? failure(with(*doubt, message_of(*doubt))) : std::nullopt;
}

std::optional<carried> operations::give_back() {
  const facts all = held.load();
  if (!all.offline || !all.offline->file || !is_for_machine(*all.offline->file, *all.offline, held.device())) return std::nullopt;
  const proof& file = *all.offline->file;
  if (file_of(all.offline) != nullptr) store([&](facts& now_held, std::int64_t) { leave(now_held, file.instance_id); });
  json claims = json::object({{"instance_id", file.instance_id}, {"serial", file.serial}});
  claims.set("fence", file.file->fence);
  return sign("release1", *all.offline, claims);
}

void operations::store(const std::function<void(facts&, std::int64_t)>& step) {
  if (!held.change(step)) throw std::runtime_error("the storage cannot be written");
}

carried operations::sign(const char* kind, const offline_facts& offline, json claims) {
  json whole = json::object({{"iat", iso_time(held.now())}});
  for (const auto& [name, value] : claims.members()) whole.set(name, value);
  const std::string token = sign_own(whole, assertion_of(kind, at_), from_hex(offline.seed).value());
  return {armored(kind == std::string("request1") ? "REQUEST" : "RELEASE", token), token};
}

}  // namespace keyledger
