#include <CoreFoundation/CoreFoundation.h>
#include <Security/Security.h>

#include <stdexcept>

#include "keyledger/key_store.hpp"

namespace keyledger {
namespace {

/** Something of CoreFoundation that is released at the end. */
template <class Type>
class held {
 public:
  explicit held(Type made) : made_(made) {
    if (made == nullptr) throw std::bad_alloc();
  }
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  ~held() { CFRelease(made_); }
  Type get() const { return made_; }

 private:
  Type made_;
};

CFStringRef string_of(const std::string& text) {
  return CFStringCreateWithBytes(nullptr, reinterpret_cast<const UInt8*>(text.data()), static_cast<CFIndex>(text.size()), kCFStringEncodingUTF8, false);
}

CFDataRef data_of(const std::string& text) { return CFDataCreate(nullptr, reinterpret_cast<const UInt8*>(text.data()), static_cast<CFIndex>(text.size())); }

[[noreturn]] void fail(OSStatus status) {
  std::string why = "error " + std::to_string(status);
  if (const CFStringRef said = SecCopyErrorMessageString(status, nullptr); said != nullptr) {
    char text[512];
    if (CFStringGetCString(said, text, sizeof text, kCFStringEncodingUTF8)) why = text;
    CFRelease(said);
  }
  throw std::runtime_error("the license cannot be kept in the Keychain: " + why +
                           ". Unlock the keychain of the user and allow the app to use the item, or keep the license in a file");
}

CFMutableDictionaryRef new_dictionary() {
  return CFDictionaryCreateMutable(nullptr, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
}

/** What finds the item of a product. An account has no further parts, so the length keeps the two ids apart. */
class query {
 public:
  query(const std::string& tenant_id, const std::string& product_id)
      : made_(new_dictionary()), account_(string_of(std::to_string(tenant_id.size()) + ' ' + tenant_id + ' ' + product_id)) {
    set(kSecClass, kSecClassGenericPassword);
    set(kSecAttrService, CFSTR("keyledger"));
    set(kSecAttrAccount, account_.get());
  }
  void set(CFStringRef name, CFTypeRef value) { CFDictionarySetValue(made_.get(), name, value); }
  CFMutableDictionaryRef get() const { return made_.get(); }

 private:
  held<CFMutableDictionaryRef> made_;
  held<CFStringRef> account_;
};

}  // namespace

key_store_storage::key_store_storage(std::string tenant_id, std::string product_id)
    : tenant_id_(std::move(tenant_id)), product_id_(std::move(product_id)) {}

std::optional<std::string> key_store_storage::read() {
  query asked(tenant_id_, product_id_);
  asked.set(kSecReturnData, kCFBooleanTrue);
  CFTypeRef found = nullptr;
  const OSStatus status = SecItemCopyMatching(asked.get(), &found);
  if (status == errSecItemNotFound) return std::nullopt;
  if (status != errSecSuccess) fail(status);
  const held<CFDataRef> data(static_cast<CFDataRef>(found));
  return std::string(reinterpret_cast<const char*>(CFDataGetBytePtr(data.get())), static_cast<std::size_t>(CFDataGetLength(data.get())));
}

void key_store_storage::write(const std::string& text) {
  query asked(tenant_id_, product_id_);
  const held<CFDataRef> data(data_of(text));
  const held<CFMutableDictionaryRef> change(new_dictionary());
  CFDictionarySetValue(change.get(), kSecValueData, data.get());
  OSStatus status = SecItemUpdate(asked.get(), change.get());
  if (status == errSecItemNotFound) {
    asked.set(kSecValueData, data.get());
    status = SecItemAdd(asked.get(), nullptr);
  }
  if (status != errSecSuccess) fail(status);
}

}  // namespace keyledger
