#include "notices.hpp"

#include "json.hpp"

namespace keyledger {
namespace {

constexpr double day = 86400;

/** Whether one end is after another; nothing is no end. */
bool is_later(const std::optional<std::int64_t>& one, const std::optional<std::int64_t>& other) { return other && (!one || *one > *other); }

/** Whether the license itself had come to its end. */
bool had_ended(const state& one) { return (one.grants() && !is_active(one)) || (one.is == status::expired && one.of == "license"); }

/** Whether there was a license, and it was not good here. */
bool was_away(const state& one) {
  return one.is == status::revoked || one.is == status::not_covered || one.is == status::another_device ||
         (one.is == status::expired && (one.of == "lease" || one.of == "file"));
}

bool had_license(const state& one) { return one.grants() || had_ended(one) || (one.is != status::revoked && was_away(one)); }

std::optional<notice> change_of(const state& before, const state& after) {
  if (after.is == status::revoked) return had_license(before) ? std::optional(notice{notice_kind::revoked, after.reason, {}}) : std::nullopt;
  const bool goes_on = is_active(before) ? is_later(after.license_expires_at, before.license_expires_at) : had_ended(before);
  if (is_active(after) && goes_on) return notice{notice_kind::renewed, {}, after.license_expires_at};
  return after.grants() && was_away(before) ? std::optional(notice{notice_kind::restored, {}, {}}) : std::nullopt;
}

/** The end of an active license that is near, and has not come. */
std::optional<std::int64_t> soon_over(const look& one, std::int64_t expiring_days) {
  const auto& end = one.state.license_expires_at;
  if (!is_active(one.state) || !end || one.at >= *end) return std::nullopt;
  // As numbers that do not overflow.
  const double from = static_cast<double>(*end) - static_cast<double>(expiring_days) * day;
  return static_cast<double>(one.at) >= from ? end : std::nullopt;
}

}  // namespace

bool is_active(const state& one) noexcept { return one.is == status::licensed || (one.is == status::offline && one.license == "licensed"); }

std::vector<notice> notices_of(const look& before, const look& after, std::int64_t expiring_days) {
  std::vector<notice> made;
  if (auto changed = change_of(before.state, after.state)) made.push_back(std::move(*changed));
  const auto end = soon_over(after, expiring_days);
  if (end && end != soon_over(before, expiring_days)) made.push_back({notice_kind::expiring, {}, end});
  return made;
}

const char* name_of(notice_kind is) noexcept {
  static constexpr const char* names[] = {"renewed", "restored", "revoked", "expiring"};
  return names[static_cast<std::size_t>(is)];
}

std::string to_json(const notice& told) {
  json made = json::object({{"notice", name_of(told.is)}});
  if (told.is == notice_kind::revoked) made.set("reason", told.reason);
  if (told.is == notice_kind::expiring || told.is == notice_kind::renewed)
    made.set("licenseExpiresAt", told.license_expires_at ? json(*told.license_expires_at) : json(nullptr));
  return made.dump();
}

}  // namespace keyledger
