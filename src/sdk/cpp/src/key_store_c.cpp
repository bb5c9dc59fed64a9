#include <cstdlib>
#include <cstring>
#include <mutex>

#include "keyledger/client.h"
#include "keyledger/key_store.hpp"

/** A key store, and why it has failed last. */
struct keyledger_key_store {
  keyledger::key_store_storage made;
  std::mutex guard;
  std::string error;

  keyledger_key_store(const char *tenant_id, const char *product_id) : made(tenant_id, product_id) {}

  template <class Step>
  int run(const Step& step) noexcept {
    try {
      step(made);
      return 0;
    } catch (const std::exception& why) {
      const std::lock_guard<std::mutex> alone(guard);
      try {
        error = why.what();
      } catch (...) {
        error.clear();
      }
      return 1;
    }
  }
};

namespace {

int read_from(void *context, keyledger_text_sink *into) {
  return static_cast<keyledger_key_store *>(context)->run([into](keyledger::storage& from) {
    if (const auto text = from.read()) keyledger_text_put(into, text->data(), text->size());
  });
}

int write_to(void *context, const char *text, size_t size) {
  return static_cast<keyledger_key_store *>(context)->run([=](keyledger::storage& to) { to.write(std::string(text, size)); });
}

}  // namespace

extern "C" {

keyledger_key_store *keyledger_key_store_new(const char *tenant_id, const char *product_id) {
  if (tenant_id == nullptr || product_id == nullptr) return nullptr;
  try {
    return new keyledger_key_store(tenant_id, product_id);
  } catch (...) {
    return nullptr;
  }
}

void keyledger_key_store_free(keyledger_key_store *store) { delete store; }

int keyledger_options_set_key_store(keyledger_options *options, keyledger_key_store *store) {
  const keyledger_storage storage{store, read_from, write_to};
  return store == nullptr ? 0 : keyledger_options_set_storage(options, &storage);
}

char *keyledger_key_store_error(keyledger_key_store *store) {
  if (store == nullptr) return nullptr;
  const std::lock_guard<std::mutex> alone(store->guard);
  if (store->error.empty()) return nullptr;
  auto *copy = static_cast<char *>(std::malloc(store->error.size() + 1));
  if (copy != nullptr) std::memcpy(copy, store->error.c_str(), store->error.size() + 1);
  return copy;
}

}  // extern "C"
