#include "paseto.hpp"

#include <algorithm>

#include "signature.hpp"

namespace keyledger {
namespace {

constexpr std::string_view header = "v4.public.";
constexpr std::size_t signature_size = 64;

void append_size(bytes& into, std::uint64_t value) {
  for (int count = 0; count < 8; ++count, value >>= 8) into.push_back(static_cast<char>(static_cast<unsigned char>(value & 0xff)));
}

/** What is signed: the parts with their number and lengths before them, so that none can take bytes of another. */
bytes signed_bytes(const bytes& message, const bytes& footer, const std::string& assertion) {
  bytes into;
  append_size(into, 4);
  for (const bytes& part : {bytes(header), message, footer, encoded(assertion)}) {
    append_size(into, part.size());
    into += part;
  }
  return into;
}

/** The JSON object in a part of a token; nothing when there is none. */
std::optional<json> object_in(const bytes& part) {
  // As TextDecoder does, which a mark of the byte order at the beginning does not disturb.
  const std::string_view text = part.rfind("\xef\xbb\xbf", 0) == 0 ? std::string_view(part).substr(3) : std::string_view(part);
  if (!is_utf8(text)) return std::nullopt;
  auto value = parse_json(text);
  return value && value->is_object() ? value : std::nullopt;
}

found<json> read_signed(const token_parts& token, const std::string& assertion, const std::optional<bytes>& public_key) {
  if (!is_signed(token, assertion, public_key)) return found<json>::refused("bad_signature");
  auto claims = object_in(token.message);
  return claims ? found<json>::good(std::move(*claims)) : found<json>::refused("malformed");
}

/** What a lease has in common with its certificate; what is absent in one is absent in the other. */
constexpr std::string_view shared[] = {"license_id", "license_key_hash", "status", "license_expires_at", "updates_until"};

bool is_within(const json& lease, const json& certificate) {
  const bool is_same = std::all_of(std::begin(shared), std::end(shared), [&](std::string_view name) { return lease[name].same(certificate[name]); });
  const json& granted = lease["entitlements"];
  const json& allowed = certificate["entitlements"];
  if (!is_same || !granted.is_object() || !allowed.is_object()) return false;
  const auto& members = granted.members();
  const bool is_allowed = std::all_of(members.begin(), members.end(), [&](const json::member& one) { return allowed[one.first].same(one.second); });
  // RFC 3339 in UTC and whole seconds sorts as text; any other spelling is refused with the lease itself.
  const bool ends_before = lease["exp"].is_text() && certificate["exp"].is_text() && lease["exp"].text() <= certificate["exp"].text();
  // A relay gives no license files and no allowances: the vendor's server counts both.
  return is_allowed && ends_before && lease["file"].is(json::kind::undefined) && lease["allowance"].is(json::kind::undefined);
}

found<claims_of> read_of_relay(const token_parts& token, const json& certificate, const place& at, const key_map& keys) {
  const auto certified = read_statement(certificate.is_text() ? parse_token(certificate.text()) : std::nullopt, assertion_of("relay1", at), keys);
  if (!certified) return certified;
  const json& allowed = certified.value->claims;
  if (!allowed["pk"].is_text() || !allowed["relay_id"].is_text()) return found<claims_of>::refused("malformed");
  auto claims = read_signed(token, assertion_of("lease2", at), from_base64url(allowed["pk"].text()));
  if (!claims) return found<claims_of>::refused(claims.doubt);
  if (!is_within(*claims.value, allowed)) return found<claims_of>::refused("bad_signature");
  return found<claims_of>::good({certified.value->kid, std::move(*claims.value), allowed["relay_id"].text()});
}

}  // namespace

std::string assertion_of(const char* kind, const place& at) {
  return std::string("keyledger:") + kind + ':' + at.tenant_id + ':' + at.product_id;
}

bool is_key_of(const std::string& kid, const json& key) {
  const auto raw = key.is_text() ? from_loose_base64(key.text()) : std::nullopt;
  return raw && raw->size() == 32 && to_hex(sha256(*raw)).substr(0, 16) == kid;
}

std::optional<token_parts> parse_token(const std::string& token) {
  if (token.rfind(header, 0) != 0) return std::nullopt;
  const std::string_view rest = std::string_view(token).substr(header.size());
  const std::size_t dot = rest.find('.');
  const std::string_view last = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  const auto body = from_base64url(rest.substr(0, dot));
  const auto footer = from_base64url(last);
  if (!body || !footer || body->size() < signature_size) return std::nullopt;
  const std::size_t end = body->size() - signature_size;
  return token_parts{body->substr(0, end), body->substr(end), *footer};
}

bool is_signed(const token_parts& token, const std::string& assertion, const std::optional<bytes>& public_key) {
  return verify_bytes(signed_bytes(token.message, token.footer, assertion), token.signature, public_key);
}

found<claims_of> read_statement(const std::optional<token_parts>& token, const std::string& assertion, const key_map& keys) {
  const auto footer = token ? object_in(token->footer) : std::nullopt;
  if (!footer || !(*footer)["kid"].is_text()) return found<claims_of>::refused("malformed");
  const std::string& kid = (*footer)["kid"].text();
  const auto key = keys.find(kid);
  if (key == keys.end()) return found<claims_of>::refused("unknown_key");
  auto claims = read_signed(*token, assertion, from_base64(key->second));
  if (!claims) return found<claims_of>::refused(claims.doubt);
  return found<claims_of>::good({kid, std::move(*claims.value), std::nullopt});
}

found<claims_of> read_lease_claims(const std::string& token, const place& at, const key_map& keys) {
  const auto parsed = parse_token(token);
  const auto footer = parsed ? object_in(parsed->footer) : std::nullopt;
  const json certificate = footer ? (*footer)["relay"] : json();
  if (parsed && !certificate.is(json::kind::undefined)) return read_of_relay(*parsed, certificate, at, keys);
  return read_statement(parsed, assertion_of("lease2", at), keys);
}

std::string sign_token(const bytes& message, const bytes& footer, const std::string& assertion, const bytes& seed) {
  return std::string(header) + to_base64url(message + sign_bytes(signed_bytes(message, footer, assertion), seed)) + '.' + to_base64url(footer);
}

std::string sign_own(const json& claims, const std::string& assertion, const bytes& seed) {
  const json own = json::object({{"pk", to_base64url(public_key_of(seed))}});
  return sign_token(claims.dump(), own.dump(), assertion, seed);
}

}  // namespace keyledger
