#ifndef KEYLEDGER_LICENSE_KEY_HPP
#define KEYLEDGER_LICENSE_KEY_HPP

#include <string>

namespace keyledger {

/** A text in the form NFKC, in upper case, as JavaScript makes them. */
std::string upper_nfkc(const std::string& text);

/** A text in lower case, likewise. A final sigma is written as any other. */
std::string lower(const std::string& text);

/**
 * Normalizes a typed license key: NFKC, upper case, without white space and hyphens. In a key that keyledger minted, which its
 * check character shows, O becomes 0, and I and L become 1.
 */
std::string normalize_license_key(const std::string& typed);

/** Whether form and check character are those of a key that keyledger minted. */
bool has_own_form(const std::string& typed);

/** The lower-case hex SHA-256 of the normalized key. */
std::string license_key_hash(const std::string& typed);

}  // namespace keyledger

#endif
