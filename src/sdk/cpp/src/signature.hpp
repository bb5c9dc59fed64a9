#ifndef KEYLEDGER_SIGNATURE_HPP
#define KEYLEDGER_SIGNATURE_HPP

#include <optional>
#include <string>

#include "text.hpp"

namespace keyledger {

/**
 * Verifies Ed25519 strictly by RFC 8032: non-canonical signatures and keys, and those of low order, are rejected.
 * @return false also for a signature or key that is absent or has another length
 */
bool verify_bytes(const bytes& message, const std::optional<bytes>& signature, const std::optional<bytes>& public_key);
/** The same of base64 in its only spelling, over a text. */
bool verify_text(const std::string& text, const std::string& signature, const std::string& public_key);

/** The raw public key of a 32-byte seed. */
bytes public_key_of(const bytes& seed);
bytes sign_bytes(const bytes& message, const bytes& seed);

bytes sha256(const bytes& data);
/** Random bytes in lower-case hex. */
std::string random_hex(std::size_t size);
/** A random number from 0 up to, and without, 1. */
double random_fraction();

}  // namespace keyledger

#endif
