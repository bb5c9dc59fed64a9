#ifndef KEYLEDGER_PASETO_HPP
#define KEYLEDGER_PASETO_HPP

#include "keyset.hpp"
#include "text.hpp"

namespace keyledger {

/** A token of the kind `v4.public`, taken apart. */
struct token_parts {
  bytes message;
  bytes signature;
  bytes footer;
};

/** Takes a token apart without verifying it; nothing for what is none, also in another spelling of the same bytes. */
std::optional<token_parts> parse_token(const std::string& token);

/** Whether the token was signed with this key, for this assertion. */
bool is_signed(const token_parts& token, const std::string& assertion, const std::optional<bytes>& public_key);

/** The claims of a token, and the id of the key; `relay` for one that a relay has signed. */
struct claims_of {
  std::string kid;
  json claims;
  std::optional<std::string> relay;
};

/** Reads a statement that one of the tenant's keys has signed for this assertion. */
found<claims_of> read_statement(const std::optional<token_parts>& token, const std::string& assertion, const key_map& keys);

/**
 * Reads a lease: of the tenant's key, or of a relay, over a chain of exactly two. A lease of a relay that says more than its
 * certificate is refused like one with a wrong signature.
 */
found<claims_of> read_lease_claims(const std::string& token, const place& at, const key_map& keys);

/** Signs a message with its footer for this assertion. */
std::string sign_token(const bytes& message, const bytes& footer, const std::string& assertion, const bytes& seed);

/** Signs a statement of a device with its own key, whose public part is in the footer. */
std::string sign_own(const json& claims, const std::string& assertion, const bytes& seed);

/** What stands between one of the tenant's products and another in what is signed. */
std::string assertion_of(const char* kind, const place& at);

}  // namespace keyledger

#endif
