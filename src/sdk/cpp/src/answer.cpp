#include "answer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "facts.hpp"
#include "text.hpp"

namespace keyledger {
namespace {

constexpr std::array<const char*, 31> names = {
    "offline",   "unavailable",   "rate_limited",   "not_genuine", "misconfigured", "forbidden", "no_license",         "no_trial",
    "no_server", "has_file",      "malformed",      "unknown_key", "bad_signature", "another_device", "not_asked",     "outdated",
    "not_yet",   "over",          "not_found",      "revoked",     "suspended",     "expired",   "build_not_covered",  "reminted",
    "inactive",  "seat_limit_reached", "seat_lost", "assigned_to_another", "borrow_limit_reached", "plan_limit", "refused"};
static_assert(names.size() == static_cast<std::size_t>(problem_code::refused) + 1, "each code has a name");

/** Answers of the server are smaller; what is longer comes from something else. */
constexpr std::size_t longest_text = 65536;
constexpr std::int64_t longest_retry_after_ms = 86400000;

/** The code of a license that refuses. */
std::optional<problem_code> refused_code(const json& reason) {
  const auto code = reason.is_text() ? code_named(reason.text()) : std::nullopt;
  return code && *code >= problem_code::not_found ? code : std::nullopt;
}

/** A date of HTTP: `Sun, 01 Nov 2026 10:48:10 GMT`. */
std::optional<std::int64_t> http_date_ms(const std::string& text) {
  static constexpr char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char month[4] = "";
  char zone[4] = "";
  unsigned day = 0;
  unsigned year = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  if (text.size() < 28 || text.size() > 29) return std::nullopt;
  if (std::sscanf(text.c_str() + 3, ", %2u %3[A-Za-z] %4u %2u:%2u:%2u %3[A-Z]", &day, month, &year, &hour, &minute, &second, zone) != 7)
    return std::nullopt;
  const char* found = std::strstr(months, month);
  if (std::strlen(month) != 3 || found == nullptr || (found - months) % 3 != 0 || std::strcmp(zone, "GMT") != 0) return std::nullopt;
  if (day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto month_number = static_cast<unsigned>((found - months) / 3) + 1;
  return ((days_of(year, month_number, 1) + day - 1) * 86400 + hour * 3600 + minute * 60 + second) * 1000;
}

problem with_code(problem_code code, std::string message, const answered& answer) {
  problem made;
  made.code = code;
  made.message = std::move(message);
  made.retry_after_ms = answer.retry_after_ms;
  const json& after = answer.body["retry_after"];
  // A day at most, as of the header; more than that is no pause of this server.
  if (!made.retry_after_ms && is_seconds(after)) made.retry_after_ms = static_cast<std::int64_t>(std::min(after.number(), 9007199254740.0)) * 1000;
  if (code == problem_code::build_not_covered) made.not_covered = not_covered_in(answer.body);
  if (code == problem_code::seat_limit_reached && answer.body["waiting"].is_number())
    made.waiting = static_cast<std::int64_t>(std::clamp(answer.body["waiting"].number(), -9e15, 9e15));
  return made;
}

}  // namespace

const char* name_of(problem_code code) noexcept { return names[static_cast<std::size_t>(code)]; }

std::optional<problem_code> code_named(const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<problem_code>(found - names.begin()));
}

std::string to_json(const problem& why) {
  json made = json::object({{"code", name_of(why.code)}, {"message", why.message}});
  made.set("retryAfterMs", why.retry_after_ms).set("waiting", why.waiting);
  if (why.not_covered) made.set("notCovered", to_json_value(*why.not_covered));
  return made.dump();
}

bool is_passing(const problem& why) { return why.code <= problem_code::not_genuine; }

problem problem_of(const std::optional<answered>& answer) {
  if (!answer) return {problem_code::offline, "the license server did not answer in time", {}, {}, {}};
  const json& body = answer->body;
  const bool has_reason = body["error"].is_text();
  const std::string said = has_reason ? body["error"].text() : "the license server answered " + std::to_string(answer->status);
  const auto of = [&](problem_code code) { return with_code(code, said, *answer); };
  if (answer->status == 429) return of(problem_code::rate_limited);
  if (answer->status >= 500) return of(problem_code::unavailable);
  if ((answer->status < 400 && !not_covered_in(body)) || !has_reason)
    return with_code(problem_code::not_genuine, "this is no answer of the license server", *answer);
  if (const auto code = refused_code(body["reason"])) return of(*code);
  if (answer->status == 403) return of(problem_code::forbidden);
  if (answer->status == 401 || answer->status == 404 || answer->status == 400) return of(problem_code::misconfigured);
  return of(problem_code::refused);
}

std::optional<std::int64_t> retry_after_ms(const std::optional<std::string>& header, std::int64_t now_ms) {
  if (!header) return std::nullopt;
  const std::string text = trimmed(*header);
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && text.size() > 9) return std::nullopt;
  std::optional<std::int64_t> ms;
  if (is_number) {
    ms = std::stoll(text) * 1000;
  } else if (const auto date = http_date_ms(text)) {
    ms = *date - now_ms;
  }
  if (!ms) return std::nullopt;
  return std::clamp<std::int64_t>(*ms, 0, longest_retry_after_ms);
}

json body_in(const std::string& raw) {
  std::string text = replaced(raw);
  if (text.rfind("\xef\xbb\xbf", 0) == 0) text.erase(0, 3);
  if (length_of(text) > longest_text) return {};
  return parse_json(text).value_or(json());
}

}  // namespace keyledger
