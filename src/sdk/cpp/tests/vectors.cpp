/**
 * Guarantee: the published vectors are what this client says of them. Each failing case is named, and the program fails when it has
 * run fewer cases than there are. Its arguments are the folder of the vectors, and Wycheproof's file for Ed25519.
 */
#include <cstdio>
#include <iostream>
#include <set>

#include "answer.hpp"
#include "cases.hpp"
#include "keyledger/license_key.hpp"
#include "machine.hpp"
#include "notices.hpp"
#include "paseto.hpp"
#include "signature.hpp"
#include "take.hpp"

using namespace keyledger;

namespace {

int ran = 0;
int failed = 0;

void check(const std::string& file, const json& one, const std::string& expected, const std::string& found) {
  ++ran;
  if (expected == found) return;
  ++failed;
  std::cout << "FAILED " << file << ": " << one["name"].text() << "\n  expected " << expected << "\n  found    " << found << '\n';
}

/** The same value with its members in the order of their names, so that texts can be compared. */
json sorted(const json& value) {
  if (value.is(json::kind::array)) {
    std::vector<json> items;
    for (const json& one : value.items()) items.push_back(sorted(one));
    return json::array(std::move(items));
  }
  if (!value.is_object()) return value;
  std::map<std::string, json> members;
  for (const auto& [name, one] : value.members()) members.emplace(name, sorted(one));
  return json::object({members.begin(), members.end()});
}

std::string canonical(const json& value) { return sorted(value).dump(); }
std::string canonical(const std::string& text) { return canonical(parse_json(text).value()); }

holder_of holder_in(const json& all) { return {all["licenseKeyHash"].text(), all["instanceId"].text()}; }

std::optional<leased_device> device_in(const json& value) {
  if (!value.is_object()) return std::nullopt;
  leased_device made;
  if (value["machineHash"].is_text()) made.machine_hash = value["machineHash"].text();
  for (const auto& [name, one] : value["components"].members()) made.components[name] = one.text();
  return made;
}

std::string verdict(const json& one) { return one["valid"].is_true() ? "" : one["reason"].text(); }

void leases(const json& all) {
  for (const json& one : all["cases"].items())
    check("leases", one, verdict(one), verify_lease(one["lease"], place_in(all), holder_in(all), keys_in(all), integer(all["now"])).doubt);
}

void leases2(const json& all, const char* name) {
  for (const json& one : all["cases"].items()) {
    auto read = verify_lease2(one["token"].text(), place_in(all), holder_in(all), device_in(all["device"]), keys_in(all), integer(all["now"]));
    check(name, one, verdict(one), read.doubt);
    if (!read || !one["entitlements"].is_object()) continue;
    json granted = json::object();
    for (const auto& entitlement : read.value->entitlements) {
      const auto value = read.value->values.find(entitlement);
      if (value == read.value->values.end()) {
        granted.set(entitlement, true);
      } else {
        std::visit([&](const auto& known) { granted.set(entitlement, known); }, value->second);
      }
    }
    json expected = json::object();
    for (const auto& [entitlement, value] : one["entitlements"].members()) {
      if (!value.same(json(false))) expected.set(entitlement, value);
    }
    --ran;
    check(name, one, canonical(expected), canonical(granted));
  }
}

void license_files(const json& all) {
  for (const json& one : all["cases"].items()) {
    facts held;
    held.keys = keys_in(all);
    held.offline = new_offline_facts(std::string(64, '5'));
    held.offline->asked = offline_facts::request{all["nonce"].text(), all["licenseKeyHash"].text()};
    held.offline->released = integer(all["releasedSerial"]);
    const auto as = take_carried(held, one["token"].text(), place_in(all), device_in(all["device"]), integer(all["now"]));
    check("license-files", one, one["valid"].is_true() ? "fresh" : one["reason"].text(), as);
  }
}

void withdrawn(const json& all) {
  for (const json& one : all["cases"].items()) {
    const auto list = read_withdrawn(one["token"].text(), place_in(all), keys_in(all));
    json files = list ? json::array({list->files.begin(), list->files.end()}) : json();
    check("withdrawn", one, one["files"].dump(), files.dump());
  }
}

void requests(const json& all) {
  for (const json& one : all["cases"].items()) {
    const std::string kind = one["kind"].text();
    const auto token = sign_own(parse_json(one["message"].text()).value(), assertion_of(kind == "REQUEST" ? "request1" : "release1", place_in(all)),
                                from_hex(all["seed"].text()).value());
    check("requests", one, one["token"].text() + one["text"].text(), token + armored(kind, token));
  }
}

void refusals(const json& all) {
  for (const json& one : all["cases"].items())
    check("refusals", one, verdict(one), verify_refusal(one["refusal"], place_in(all), holder_in(all), keys_in(all)).doubt);
}

void settings_of(const json& all) {
  for (const json& one : all["cases"].items())
    check("settings", one, verdict(one), verify_settings(one["settings"], place_in(all), keys_in(all), integer(all["now"]), one["enforce"].is_true()).doubt);
}

void keys_of(const json& all) {
  for (const json& one : all["cases"].items())
    check("keys", one, one["valid"].dump(), is_key_of(one["kid"].text(), one["publicKey"]) ? "true" : "false");
}

void license_keys(const json& all) {
  for (const json& one : all["cases"].items()) {
    const std::string typed = one["typed"].text();
    check("license-keys", one, one["normalized"].text() + one["hash"].text() + one["valid"].dump(),
          normalize_license_key(typed) + license_key_hash(typed) + (is_minted_key(typed) ? "true" : "false"));
  }
}

std::optional<std::string> text_or_nothing(const json& value) { return value.is_text() ? std::optional(value.text()) : std::nullopt; }

void devices(const json& all) {
  for (const json& one : all["readings"].items()) {
    machine_reading reading;
    for (const json& value : one["machine"].items()) reading.machine.push_back(text_or_nothing(value));
    for (const auto& [name, value] : one["components"].members()) reading.components[name] = text_or_nothing(value);
    const auto found = identity_of(place_in(one), reading);
    json hashes = json::object();
    for (const auto& [name, value] : found.components) hashes.set(name, value);
    check("devices", one, one["machineHash"].dump() + canonical(one["device"]), json(found.machine_hash).dump() + canonical(hashes));
  }
  for (const json& one : all["cases"].items()) check("devices", one, one["shared"].dump(), is_shared(one["value"].text()) ? "true" : "false");
}

void answers(const json& all) {
  for (const json& one : all["cases"].items()) {
    std::optional<answered> answer;
    if (one["status"].is_number())
      answer = answered{static_cast<int>(integer(one["status"])), one["body"],
                        retry_after_ms(text_or_nothing(one["retryAfter"]), integer(all["now"]) * 1000)};
    json found = json::object();
    const json written = parse_json(to_json(problem_of(answer))).value();
    for (const auto& [name, value] : written.members()) {
      if (name != "message") found.set(name, value);
    }
    json expected = json::object();
    for (const char* name : {"code", "retryAfterMs", "notCovered", "waiting"}) expected.set(name, one[name]);
    check("answers", one, canonical(expected), canonical(found));
  }
}

void tokens(const json& all) {
  const auto key = from_hex(all["publicKey"].text());
  for (const json& one : all["cases"].items()) {
    const auto token = parse_token(one["token"].text());
    const bool is_good = token && is_signed(*token, one["assertion"].text(), key);
    const std::string expected = one["valid"].is_true() ? "good " + one["message"].text() + one["footer"].text() : "bad";
    check("paseto", one, expected, is_good ? "good " + token->message + token->footer : "bad");
  }
}

struct story {
  const json& all;
  const json& one;
  place at = place_in(all);
  facts held = fresh();

  facts fresh() const {
    facts made;
    made.install_id = "install";
    made.keys = keys_in(all);
    return made;
  }

  std::string text_in(const json& step, const char* name) const { return step[name].is_text() ? step[name].text() : all[name].text(); }
  void with_offline() {
    if (!held.offline) held.offline = new_offline_facts(all["seed"].text());
  }

  std::string take(const json& step) {
    const std::string kind = step["step"].text();
    const std::int64_t now = integer(step["at"]);
    if (kind == "restart") held = facts_from(text_of(held), at, keys_in(all)).value_or(fresh());
    if (kind == "take_proof")
      return take_proof(held, step["answer"], {text_in(step, "licenseKey"), text_in(step, "instanceId"), {}}, at, now);
    if (kind == "take_settings") return take_settings(held, step["answer"], at, now, one["enforceSettings"].is_true());
    if (kind == "start_trial") begin_trial(held, now);
    if (kind == "take_trial") take_trial(held, step["answer"]);
    if (kind == "take_not_covered") take_not_covered(held, step["answer"]);
    if (kind == "ask_for_file") {
      with_offline();
      held.offline->asked = offline_facts::request{step["nonce"].text(), license_key_hash(text_in(step, "licenseKey"))};
    }
    if (kind == "take_file") {
      facts tried = held;
      with_offline();
      const auto as = take_carried(held, step["token"].text(), at, device_in(one["device"]), now);
      if (as != "fresh" && as != "same") held = tried;
      return as;
    }
    if (kind == "leave") leave(held, text_in(step, "instanceId"));
    if (kind == "give_seat_back") give_seat_back(held);
    return {};
  }

  std::string play(const json& step) {
    const std::string as = take(step);
    const std::int64_t now = integer(step["at"]);
    note_time(held, now);
    circumstances given;
    given.failing = step["failing"].is_true();
    given.device = device_in(one["device"]);
    if (one["builtAt"].is_number()) given.built_at = integer(one["builtAt"]);
    if (one["defaultTrialDays"].is_number()) given.default_trial_days = integer(one["defaultTrialDays"]);
    return as + ' ' + canonical(to_json(state_of(held, now, given)));
  }
};

void states(const json& all, const char* name) {
  for (const json& one : all["cases"].items()) {
    story told{all, one};
    std::string expected;
    std::string found;
    int number = 0;
    for (const json& step : one["steps"].items()) {
      ++number;
      expected = step["as"].text() + ' ' + canonical(step["state"]);
      found = told.play(step);
      if (expected != found) break;
    }
    if (expected != found) found += "\n  in step " + std::to_string(number);
    check(name, one, expected, found);
  }
}

std::optional<std::int64_t> number_or_nothing(const json& value) { return value.is_number() ? std::optional(integer(value)) : std::nullopt; }

/** The members of a state that notices depend on. */
state state_in(const json& value) {
  state made;
  for (const status is : {status::unlicensed, status::licensed, status::fallback, status::offline, status::trial, status::free_tier, status::expired,
                          status::revoked, status::not_covered, status::another_device}) {
    if (value["status"].text() == name_of(is)) made.is = is;
  }
  made.license = value["license"].text();
  made.of = value["of"].text();
  made.reason = value["reason"].text();
  made.license_expires_at = number_or_nothing(value["licenseExpiresAt"]);
  for (const json& one : value["entitlements"].items()) made.entitlements.push_back(one.text());
  return made;
}

look look_in(const json& value) { return {state_in(value["state"]), integer(value["at"])}; }

void notices(const json& all) {
  for (const json& one : all["cases"].items()) {
    std::vector<json> told;
    for (const notice& each : notices_of(look_in(one["before"]), look_in(one["after"]), integer(all["expiringDays"])))
      told.push_back(parse_json(to_json(each)).value());
    check("notices", one, canonical(one["notices"]), canonical(json::array(std::move(told))));
  }
}

/** Wycheproof's signatures: good ones are taken, and bad ones are not. */
int wycheproof(const json& all) {
  const auto& tests = all["tests"].items();
  for (const json& one : tests) {
    const bool is_good = verify_bytes(from_hex(one["msg"].text()).value_or(""), from_hex(one["sig"].text()), from_hex(one["pk"].text()));
    const json named = json::object({{"name", one["tcId"].dump()}});
    check("wycheproof", named, one["result"].text(), is_good ? "valid" : "invalid");
  }
  return static_cast<int>(tests.size());
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: vectors <folder of the vectors> <file of Wycheproof>\n";
    return 2;
  }
  int expected = 0;
  const auto file = [&](const std::string& name) {
    json all = read_cases(std::string(words[1]) + '/' + name + ".json");
    expected += static_cast<int>(all["cases"].items().size() + all["readings"].items().size());
    return all;
  };
  tokens(file("paseto"));
  leases(file("leases"));
  leases2(file("leases2"), "leases2");
  leases2(file("relays"), "relays");
  license_files(file("license-files"));
  withdrawn(file("withdrawn"));
  requests(file("requests"));
  refusals(file("refusals"));
  settings_of(file("settings"));
  keys_of(file("keys"));
  license_keys(file("license-keys"));
  devices(file("devices"));
  answers(file("answers"));
  notices(file("notices"));
  for (const char* name : {"states-leases", "states-trials", "states-files", "states-machines"}) states(file(name), name);
  const json signatures = read_cases(words[2]);
  expected += wycheproof(signatures);
  std::cout << ran << " cases, " << failed << " failed\n";
  if (ran < expected) std::cout << "FAILED: there are " << expected << " cases\n";
  return failed == 0 && ran >= expected && expected > 600 ? 0 : 1;
}
