#ifndef KEYLEDGER_KEYSET_HPP
#define KEYLEDGER_KEYSET_HPP

#include <map>
#include <string>

#include "json.hpp"

namespace keyledger {

/** Raw Ed25519 public keys in base64, by `kid`. */
using key_map = std::map<std::string, std::string>;

/** The tenant and the product whose signature is expected. */
struct place {
  std::string tenant_id;
  std::string product_id;
};

/** The expected license, by the hash of its key, and the instance. */
struct holder_of {
  std::string license_key_hash;
  std::string instance_id;
};

/** Whether a `kid` is the beginning of the hash of its key: a key that was damaged on the way is recognized. */
bool is_key_of(const std::string& kid, const json& key);

/** A value, or why there is none. */
template <class T>
struct found {
  std::optional<T> value;
  /** Empty with a value; else `malformed`, `unknown_key`, `bad_signature` and so on. */
  std::string doubt;

  static found refused(std::string why) { return {std::nullopt, std::move(why)}; }
  static found good(T value) { return {std::move(value), {}}; }
  explicit operator bool() const { return value.has_value(); }
};

}  // namespace keyledger

#endif
