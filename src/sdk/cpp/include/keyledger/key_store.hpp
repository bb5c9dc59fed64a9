#ifndef KEYLEDGER_KEY_STORE_HPP
#define KEYLEDGER_KEY_STORE_HPP

#include "keyledger/ports.hpp"

namespace keyledger {

/**
 * Keeps the text in the key store of the system instead of in a file, for one user: in the Secret Service on Linux, through the program
 * `secret-tool` of libsecret; in the Keychain on macOS; on Windows in a file below the user's `AppData\Local` that only the user can
 * decrypt. It is in the library of its own `keyledger-client-key-store`.
 *
 * On Linux each access runs a program, which takes 20 to 100 ms, and a locked key ring asks its user for the password, for a minute at
 * most. `client::state` writes once a minute. A write is complete or does not happen, as with `file_storage`.
 */
class key_store_storage : public storage {
 public:
  /** @param tenant_id, product_id what the text is found by, so that each product has its own */
  key_store_storage(std::string tenant_id, std::string product_id);
  /**
   * @return nothing when nothing was written yet
   * @throws std::runtime_error when the key store is locked or missing; it says what to do
   */
  std::optional<std::string> read() override;
  /** @throws std::runtime_error when the key store is locked or missing; it says what to do */
  void write(const std::string& text) override;

 private:
  std::string tenant_id_;
  std::string product_id_;
};

}  // namespace keyledger

#endif
