#include "keyledger/license_key.hpp"

#include <string_view>

#include "signature.hpp"
#include "text.hpp"
#include "unicode.hpp"

namespace keyledger {
namespace {

constexpr std::string_view alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t body_size = 26;

bool is_own(const std::string& text) {
  if (text.size() < body_size + 2 || text.size() > body_size + 8) return false;
  const std::size_t prefix = text.size() - body_size;
  for (std::size_t at = 0; at < prefix; ++at) {
    if (!((text[at] >= 'A' && text[at] <= 'Z') || (text[at] >= '0' && text[at] <= '9'))) return false;
  }
  // The Luhn mod 32 sum over all characters, the check character included, is zero.
  std::size_t sum = 0;
  for (std::size_t at = 0; at < body_size; ++at) {
    const std::size_t found = alphabet.find(text[text.size() - 1 - at]);
    if (found == std::string_view::npos) return false;
    const std::size_t value = found * (at % 2 == 0 ? 1 : 2);
    sum += value / 32 + value % 32;
  }
  return sum % 32 == 0;
}

std::string plain(const std::string& typed) {
  const std::string upper = upper_nfkc(typed);
  std::string into;
  for (std::size_t at = 0; at < upper.size();) {
    const std::size_t begin = at;
    const char32_t point = next_point(upper, at);
    if (point != '-' && !is_space(point)) into.append(upper, begin, at - begin);
  }
  return into;
}

std::string read(std::string text) {
  for (char& c : text) c = c == 'O' ? '0' : c == 'I' || c == 'L' ? '1' : c;
  return text;
}

}  // namespace

std::string normalize_license_key(const std::string& typed) {
  const std::string text = plain(typed);
  std::string own = read(text);
  return is_own(own) ? own : text;
}

bool is_minted_key(const std::string& typed) { return is_own(read(plain(typed))); }

std::string license_key_hash(const std::string& typed) { return to_hex(sha256(encoded(normalize_license_key(typed)))); }

}  // namespace keyledger
