#include "proof.hpp"
#include "signature.hpp"

namespace keyledger {
namespace {

/** What a lease and a refusal of the first version have in common. @param more what of the others is signed, in this order */
found<proof> verify_statement(const char* kind, const json& value, const place& at, const holder_of& expected, const key_map& keys,
                              const std::vector<std::string>& more) {
  if (!is_field(value["kid"]) || !is_field(value["licenseKeyHash"]) || !is_field(value["instanceId"])) return found<proof>::refused("malformed");
  if (!is_seconds(value["issuedAt"]) || !value["signature"].is_text()) return found<proof>::refused("malformed");
  proof made;
  made.kid = value["kid"].text();
  made.license_key_hash = value["licenseKeyHash"].text();
  made.instance_id = value["instanceId"].text();
  made.issued_at = integer(value["issuedAt"]);
  if (made.license_key_hash != expected.license_key_hash) return found<proof>::refused("another_license");
  if (made.instance_id != expected.instance_id) return found<proof>::refused("another_instance");
  const auto key = keys.find(made.kid);
  if (key == keys.end()) return found<proof>::refused("unknown_key");
  std::string text = kind;
  for (const auto& part : {made.kid, at.tenant_id, at.product_id, made.license_key_hash, made.instance_id, std::to_string(made.issued_at)}) text += '|' + part;
  for (const auto& part : more) text += '|' + part;
  if (!verify_text(text, value["signature"].text(), key->second)) return found<proof>::refused("bad_signature");
  made.stored = json::object();
  for (const char* name : {"kid", "licenseKeyHash", "instanceId", "issuedAt"}) made.stored.set(name, value[name]);
  made.stored.set("signature", value["signature"]);
  return found<proof>::good(std::move(made));
}

bool is_entitlement(const json& value) {
  if (!value.is_text() || value.text().empty() || value.text().size() > 64) return false;
  for (std::size_t at = 0; at < value.text().size(); ++at) {
    const char c = value.text()[at];
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!is_word && (at == 0 || (c != '.' && c != '_' && c != ':' && c != '-'))) return false;
  }
  return true;
}

bool has_own_signature(const json& answer) {
  for (const char* name : {"kid", "issued_at", "expires_at", "signature"}) {
    if (!answer[name].is(json::kind::undefined)) return true;
  }
  return false;
}

}  // namespace

found<proof> verify_lease(const json& value, const place& at, const holder_of& expected, const key_map& keys, std::int64_t now) {
  if (!is_seconds(value["expiresAt"]) || !is_field(value["status"]) || !value["entitlements"].is(json::kind::array))
    return found<proof>::refused("malformed");
  std::string joined;
  std::vector<std::string> entitlements;
  for (const json& one : value["entitlements"].items()) {
    if (!is_entitlement(one)) return found<proof>::refused("malformed");
    joined += (entitlements.empty() ? "" : ",") + one.text();
    entitlements.push_back(one.text());
  }
  const std::int64_t end = integer(value["expiresAt"]);
  auto made = verify_statement("lease1", value, at, expected, keys, {std::to_string(end), value["status"].text(), joined});
  if (!made) return made;
  proof& lease = *made.value;
  lease.is = proof::kind::lease;
  lease.expires_at = end;
  lease.status = value["status"].text();
  lease.entitlements = std::move(entitlements);
  for (const char* name : {"expiresAt", "status", "entitlements"}) lease.stored.set(name, value[name]);
  return now > end ? found<proof>::refused("over") : made;
}

found<proof> verify_refusal(const json& value, const place& at, const holder_of& expected, const key_map& keys) {
  if (!is_field(value["reason"])) return found<proof>::refused("malformed");
  auto made = verify_statement("refusal1", value, at, expected, keys, {value["reason"].text()});
  if (!made) return made;
  made.value->is = proof::kind::refusal;
  made.value->reason = value["reason"].text();
  made.value->stored.set("reason", value["reason"]);
  return made;
}

found<settings> verify_settings(const json& answer, const place& at, const key_map& keys, std::int64_t now, bool enforce) {
  using result = found<settings>;
  if (!answer["free_tier_enabled"].is_boolean()) return result::refused("malformed");
  settings made;
  made.free_tier_enabled = answer["free_tier_enabled"].is_true();
  const json& days = answer["trial_duration_days"];
  if (days.is(json::kind::undefined)) {
    if (has_own_signature(answer)) return result::refused("malformed");
    return enforce ? result::refused("unsigned") : result::good(made);
  }
  const json& kid = answer["kid"];
  const json& signature = answer["signature"];
  if (kid.is(json::kind::undefined) || signature.is(json::kind::undefined)) return result::refused("unsigned");
  if (!is_field(kid) || !signature.is_text()) return result::refused("malformed");
  if (!is_seconds(days) || !is_seconds(answer["issued_at"]) || !is_seconds(answer["expires_at"])) return result::refused("malformed");
  const auto key = keys.find(kid.text());
  if (key == keys.end()) return result::refused("unknown_key");
  std::string text = "cfg1";
  for (const auto& part : {kid.text(), at.tenant_id, at.product_id, std::to_string(integer(answer["issued_at"])),
                           std::to_string(integer(answer["expires_at"])), std::to_string(integer(days))})
    text += '|' + part;
  text += made.free_tier_enabled ? "|true" : "|false";
  if (!verify_text(text, signature.text(), key->second)) return result::refused("bad_signature");
  if (now > integer(answer["expires_at"])) return result::refused("over");
  made.trial_duration_days = integer(days);
  return result::good(made);
}

found<proof> verify_proof(const json& value, const place& at, const holder_of& expected, const key_map& keys) {
  const json& inside = value["token"];
  const json& token = inside.is_nullish() ? value : inside;
  if (token.is_text()) {
    auto read = read_token(token.text(), at, keys);
    if (!read) return read;
    if (read.value->file) return found<proof>::refused("malformed");
    if (read.value->license_key_hash != expected.license_key_hash) return found<proof>::refused("another_license");
    return read.value->instance_id == expected.instance_id ? read : found<proof>::refused("another_instance");
  }
  if (!value["reason"].is(json::kind::undefined)) return verify_refusal(value, at, expected, keys);
  return verify_lease(value, at, expected, keys, 0);
}

}  // namespace keyledger
