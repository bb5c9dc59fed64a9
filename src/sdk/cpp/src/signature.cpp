#include "signature.hpp"

#include <sodium.h>

#include <stdexcept>

namespace keyledger {
namespace {

const unsigned char* raw(const bytes& data) { return reinterpret_cast<const unsigned char*>(data.data()); }
unsigned char* raw(bytes& data) { return reinterpret_cast<unsigned char*>(&data[0]); }

/** Calling it again is cheap, and safe on every thread. */
void ready() {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be used: the system gives no random bytes");
}

struct key_pair {
  bytes open = bytes(crypto_sign_PUBLICKEYBYTES, '\0');
  bytes secret = bytes(crypto_sign_SECRETKEYBYTES, '\0');
  explicit key_pair(const bytes& seed) {
    ready();
    if (seed.size() != crypto_sign_SEEDBYTES) throw std::invalid_argument("a seed has 32 bytes");
    crypto_sign_seed_keypair(raw(open), raw(secret), raw(seed));
  }
  key_pair(const key_pair&) = delete;
  key_pair& operator=(const key_pair&) = delete;
  ~key_pair() { sodium_memzero(&secret[0], secret.size()); }
};

}  // namespace

bool verify_bytes(const bytes& message, const std::optional<bytes>& signature, const std::optional<bytes>& public_key) {
  if (!signature || signature->size() != crypto_sign_BYTES || !public_key || public_key->size() != crypto_sign_PUBLICKEYBYTES) return false;
  ready();
  return crypto_sign_verify_detached(raw(*signature), raw(message), message.size(), raw(*public_key)) == 0;
}

bool verify_text(const std::string& text, const std::string& signature, const std::string& public_key) {
  return verify_bytes(encoded(text), from_base64(signature), from_base64(public_key));
}

bytes public_key_of(const bytes& seed) { return key_pair(seed).open; }

bytes sign_bytes(const bytes& message, const bytes& seed) {
  key_pair pair(seed);
  bytes signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(raw(signature), nullptr, raw(message), message.size(), raw(pair.secret));
  return signature;
}

bytes sha256(const bytes& data) {
  bytes hash(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(raw(hash), raw(data), data.size());
  return hash;
}

std::string random_hex(std::size_t size) {
  ready();
  bytes made(size, '\0');
  randombytes_buf(&made[0], size);
  return to_hex(made);
}

double random_fraction() {
  ready();
  return randombytes_uniform(1U << 30U) / static_cast<double>(1U << 30U);
}

}  // namespace keyledger
