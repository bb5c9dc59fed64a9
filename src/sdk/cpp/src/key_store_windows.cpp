// clang-format off: windows.h comes before the headers that need it
#include <windows.h>
#include <dpapi.h>
// clang-format on

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "keyledger/key_store.hpp"

namespace keyledger {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("the license cannot be kept for this user of Windows: " + what + ", error " + std::to_string(GetLastError()) +
                           ". Run the app as the user who has stored it, with a folder AppData\\Local, or hand in another storage");
}

class file {
 public:
  file(const std::wstring& path, DWORD access, DWORD creation)
      : handle_(CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, creation, FILE_ATTRIBUTE_NORMAL, nullptr)) {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() {
    if (is_open()) CloseHandle(handle_);
  }
  bool is_open() const { return handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

/** Bytes that Windows has made. */
struct blob {
  DATA_BLOB made{0, nullptr};
  blob() = default;
  blob(const blob&) = delete;
  blob& operator=(const blob&) = delete;
  ~blob() { LocalFree(made.pbData); }
  std::string text() const { return {reinterpret_cast<const char*>(made.pbData), made.cbData}; }
};

DATA_BLOB blob_of(const std::string& text) {
  // Nothing is written to it, though it is not declared so.
  return {static_cast<DWORD>(text.size()), reinterpret_cast<BYTE*>(const_cast<char*>(text.data()))};
}

/** An id as a name of a file: other characters than letters, digits and hyphens as their bytes in hex. */
std::wstring name_of(const std::string& id) {
  static constexpr wchar_t digits[] = L"0123456789abcdef";
  std::wstring made;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-') {
      made += static_cast<wchar_t>(c);
    } else {
      made += {L'_', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return made;
}

/** The folder of the tenant, made if necessary, and the file of the product in it. */
std::wstring path_of(const std::string& tenant_id, const std::string& product_id) {
  wchar_t local[MAX_PATH];
  const DWORD size = GetEnvironmentVariableW(L"LOCALAPPDATA", local, MAX_PATH);
  if (size == 0 || size >= MAX_PATH) fail("LOCALAPPDATA is not set");
  std::wstring path = local;
  for (const std::wstring& name : {std::wstring(L"keyledger"), name_of(tenant_id)}) {
    path += L'\\' + name;
    if (!CreateDirectoryW(path.c_str(), nullptr) && GetLastError() != ERROR_ALREADY_EXISTS) fail("its folder cannot be made");
  }
  return path + L'\\' + name_of(product_id) + L".license";
}

}  // namespace

key_store_storage::key_store_storage(std::string tenant_id, std::string product_id)
    : tenant_id_(std::move(tenant_id)), product_id_(std::move(product_id)) {}

std::optional<std::string> key_store_storage::read() {
  const file from(path_of(tenant_id_, product_id_), GENERIC_READ, OPEN_EXISTING);
  if (!from.is_open()) {
    if (GetLastError() == ERROR_FILE_NOT_FOUND) return std::nullopt;
    fail("its file cannot be opened");
  }
  std::string sealed;
  char part[4096];
  for (DWORD size = sizeof part; size > 0;) {
    if (!ReadFile(from.get(), part, sizeof part, &size, nullptr)) fail("its file cannot be read");
    sealed.append(part, size);
  }
  DATA_BLOB in = blob_of(sealed);
  blob out;
  if (!CryptUnprotectData(&in, nullptr, nullptr, nullptr, nullptr, CRYPTPROTECT_UI_FORBIDDEN, &out.made)) fail("its file cannot be decrypted");
  return out.text();
}

void key_store_storage::write(const std::string& text) {
  const std::wstring path = path_of(tenant_id_, product_id_);
  DATA_BLOB in = blob_of(text);
  blob out;
  if (!CryptProtectData(&in, L"License", nullptr, nullptr, nullptr, CRYPTPROTECT_UI_FORBIDDEN, &out.made)) fail("it cannot be encrypted");
  const std::wstring draft = path + L'.' + std::to_wstring(GetCurrentProcessId()) + L".tmp";
  {
    const file to(draft, GENERIC_WRITE, CREATE_ALWAYS);
    DWORD written = 0;
    if (!to.is_open() || !WriteFile(to.get(), out.made.pbData, out.made.cbData, &written, nullptr) || written != out.made.cbData ||
        !FlushFileBuffers(to.get()))
      fail("its file cannot be written");
  }
  if (!MoveFileExW(draft.c_str(), path.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) fail("its file cannot be replaced");
}

}  // namespace keyledger
