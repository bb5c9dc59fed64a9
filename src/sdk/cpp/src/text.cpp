#include "text.hpp"

#include <array>
#include <cstdio>

namespace keyledger {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/** How many bytes from here are one character of UTF-8; 0 where none begins, and then how many are replaced as one. */
std::size_t character_at(std::string_view text, std::size_t at, std::size_t& broken) {
  const unsigned char first = byte_at(text, at);
  broken = 1;
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (size == 0) return 0;
  unsigned char lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t next = 1; next < size; ++next) {
    if (at + next >= text.size() || byte_at(text, at + next) < lowest || byte_at(text, at + next) > highest) {
      broken = next;
      return 0;
    }
    lowest = 0x80;
    highest = 0xbf;
  }
  return size;
}

std::optional<bytes> decode(std::string_view text, std::string_view letters) {
  std::array<int, 256> values{};
  values.fill(-1);
  for (std::size_t at = 0; at < letters.size(); ++at) values[byte_at(letters, at)] = static_cast<int>(at);
  bytes into;
  into.reserve(text.size() * 3 / 4);
  unsigned held = 0;
  int bits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int value = values[byte_at(text, at)];
    if (value < 0) return std::nullopt;
    held = (held << 6 | static_cast<unsigned>(value)) & 0xffffU;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      into.push_back(static_cast<char>(held >> bits & 0xffU));
    }
  }
  if (bits >= 6) return std::nullopt;
  // In its only spelling, bits that are left over are zero.
  if (letters == url_alphabet && (held & ((1U << bits) - 1U)) != 0) return std::nullopt;
  return into;
}

}  // namespace

void append_point(std::string& into, char32_t point) {
  const auto put = [&into](char32_t byte) { into.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

void append_unit(std::string& into, unsigned unit) {
  const std::size_t size = into.size();
  const bool is_second = unit >= 0xdc00 && unit <= 0xdfff;
  if (is_second && size >= 3 && byte_at(into, size - 3) == 0xed && byte_at(into, size - 2) >= 0xa0 && byte_at(into, size - 2) <= 0xaf) {
    const unsigned high = 0xd000U | (byte_at(into, size - 2) & 0x3fU) << 6 | (byte_at(into, size - 1) & 0x3fU);
    into.resize(size - 3);
    append_point(into, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
    return;
  }
  append_point(into, unit);
}

char32_t next_point(std::string_view text, std::size_t& at) {
  const unsigned char first = byte_at(text, at);
  const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (size == 1 || at + size > text.size()) {
    ++at;
    return first;
  }
  char32_t point = first & (0xffU >> (size + 1));
  for (std::size_t next = 1; next < size; ++next) point = point << 6 | (byte_at(text, at + next) & 0x3fU);
  at += size;
  return point;
}

bool is_utf8(std::string_view text) {
  std::size_t broken = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_at(text, at, broken);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

std::string replaced(std::string_view text) {
  std::string into;
  std::size_t broken = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_at(text, at, broken);
    if (size == 0) {
      append_point(into, 0xfffd);
      at += broken;
    } else {
      into.append(text.substr(at, size));
      at += size;
    }
  }
  return into;
}

std::string encoded(const std::string& text) {
  std::string into;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t point = next_point(text, at);
    append_point(into, point >= 0xd800 && point <= 0xdfff ? 0xfffd : point);
  }
  return into;
}

std::size_t length_of(std::string_view text) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < text.size();) units += next_point(text, at) >= 0x10000 ? 2 : 1;
  return units;
}

bool is_space(char32_t point) {
  return (point >= 0x09 && point <= 0x0d) || point == 0x20 || point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
         point == 0x2028 || point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000 || point == 0xfeff;
}

std::string trimmed(const std::string& text) {
  std::size_t from = text.size();
  std::size_t to = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (is_space(next_point(text, at))) continue;
    if (from == text.size()) from = begin;
    to = at;
  }
  return from < to ? text.substr(from, to - from) : std::string();
}

std::optional<bytes> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string plain;
  const std::size_t end = text.find('=');
  const std::string_view body = text.substr(0, end);
  if (text.size() - body.size() > 2) return std::nullopt;
  for (const char c : text.substr(body.size())) {
    if (c != '=') return std::nullopt;
  }
  for (const char c : body) {
    if (c == '-' || c == '_') return std::nullopt;
    plain.push_back(c == '+' ? '-' : c == '/' ? '_' : c);
  }
  return from_base64url(plain);
}

std::optional<bytes> from_base64url(std::string_view text) { return decode(text, url_alphabet); }

std::optional<bytes> from_loose_base64(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\f' && c != '\r') plain.push_back(c);
  }
  if (plain.size() % 4 == 0) {
    for (int most = 2; most > 0 && !plain.empty() && plain.back() == '='; --most) plain.pop_back();
  }
  return decode(plain, alphabet);
}

std::string to_base64url(std::string_view data) {
  std::string into;
  unsigned held = 0;
  int bits = 0;
  for (std::size_t at = 0; at < data.size(); ++at) {
    held = (held << 8 | byte_at(data, at)) & 0xffffU;
    for (bits += 8; bits >= 6; bits -= 6) into.push_back(url_alphabet[held >> (bits - 6) & 0x3fU]);
  }
  if (bits > 0) into.push_back(url_alphabet[held << (6 - bits) & 0x3fU]);
  return into;
}

std::string to_hex(std::string_view data) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string into;
  for (std::size_t at = 0; at < data.size(); ++at) {
    into.push_back(digits[byte_at(data, at) >> 4]);
    into.push_back(digits[byte_at(data, at) & 15]);
  }
  return into;
}

std::optional<bytes> from_hex(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  if (text.size() % 2 != 0) return std::nullopt;
  bytes into;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const std::size_t high = digits.find(text[at]);
    const std::size_t low = digits.find(text[at + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    into.push_back(static_cast<char>(static_cast<unsigned char>(high * 16 + low)));
  }
  return into;
}

std::int64_t days_of(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto of_era = static_cast<unsigned>(year - era * 400);
  const unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
  return era * 146097 + static_cast<std::int64_t>(of_era * 365 + of_era / 4 - of_era / 100 + of_year) + day - 1 - 719468;
}

std::optional<std::int64_t> seconds_from(const std::string& text) {
  static constexpr std::string_view form = "0000-00-00T00:00:00Z";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t at = 0; at < form.size(); ++at) {
    if (form[at] == '0' ? text[at] < '0' || text[at] > '9' : text[at] != form[at]) return std::nullopt;
  }
  const auto number = [&text](std::size_t at, std::size_t size) {
    unsigned value = 0;
    for (std::size_t next = at; next < at + size; ++next) value = value * 10 + static_cast<unsigned>(text[next] - '0');
    return value;
  };
  const unsigned month = number(5, 2);
  const unsigned day = number(8, 2);
  const unsigned hour = number(11, 2);
  const unsigned minute = number(14, 2);
  const unsigned second = number(17, 2);
  // As Date.parse: a 31st of any month is a day of the next, and 24:00:00 is the end of a day.
  if (month < 1 || month > 12 || day < 1 || day > 31 || minute > 59 || second > 59) return std::nullopt;
  if (hour > 23 && (hour != 24 || minute != 0 || second != 0)) return std::nullopt;
  return (days_of(number(0, 4), month, 1) + day - 1) * 86400 + hour * 3600 + minute * 60 + second;
}

std::string iso_time(std::int64_t seconds) {
  const std::int64_t days = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
  const auto rest = static_cast<unsigned>(seconds - days * 86400);
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const auto of_era = static_cast<unsigned>(shifted - era * 146097);
  const unsigned years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const unsigned of_year = of_era - (365 * years + years / 4 - years / 100);
  const unsigned part = (5 * of_year + 2) / 153;
  const unsigned month = part < 10 ? part + 3 : part - 9;
  const std::int64_t year = static_cast<std::int64_t>(years) + era * 400 + (month <= 2 ? 1 : 0);
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02u-%02uT%02u:%02u:%02u.000Z", static_cast<long long>(year), month, of_year - (153 * part + 2) / 5 + 1,
                rest / 3600, rest / 60 % 60, rest % 60);
  return text;
}

}  // namespace keyledger
