#ifndef KEYLEDGER_LICENSE_KEY_HPP
#define KEYLEDGER_LICENSE_KEY_HPP

#include <string>

namespace keyledger {

/**
 * Whether a typed license key is one that keyledger has minted, and complete: form and check character are right. Use it for a field that
 * says so while a person types, and never to refuse a key: those that a vendor has imported have other forms.
 * @param typed UTF-8, with any white space, hyphens and letters of both cases
 */
bool is_minted_key(const std::string& typed);

/**
 * The one spelling of a license key: NFKC, upper case, without white space and hyphens. In a key that keyledger minted, O becomes 0, and
 * I and L become 1.
 * @param typed UTF-8
 */
std::string normalize_license_key(const std::string& typed);

/** The lower-case hex SHA-256 of the normalized key, by which leases and files name their license. @param typed UTF-8 */
std::string license_key_hash(const std::string& typed);

}  // namespace keyledger

#endif
