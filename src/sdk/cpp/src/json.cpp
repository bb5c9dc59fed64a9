#include "json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "text.hpp"

namespace keyledger {
namespace {

constexpr int deepest = 32;
const json none;

/** The names that JavaScript sorts before all others: whole numbers below 2^32 - 1 in their only spelling. */
std::optional<std::uint32_t> index_in(const std::string& name) {
  if (name.empty() || name.size() > 10 || (name[0] == '0' && name.size() > 1)) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value >= 0xffffffffULL) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::vector<json::member> in_order(std::vector<json::member> read) {
  std::unordered_map<std::string, std::size_t> at;
  std::map<std::uint32_t, json::member> numbered;
  std::vector<json::member> kept;
  kept.reserve(read.size());
  for (auto& one : read) {
    if (const auto index = index_in(one.first)) {
      numbered[*index] = std::move(one);
      continue;
    }
    const auto [found, is_new] = at.emplace(one.first, kept.size());
    if (is_new) {
      kept.push_back(std::move(one));
    } else {
      kept[found->second].second = std::move(one.second);
    }
  }
  if (numbered.empty()) return kept;
  std::vector<json::member> all;
  for (auto& [index, one] : numbered) all.push_back(std::move(one));
  for (auto& one : kept) all.push_back(std::move(one));
  return all;
}

double number_in(const std::string& text) {
#if defined(__cpp_lib_to_chars)
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc::result_out_of_range) return value;
#endif
  return std::strtod(text.c_str(), nullptr);
}

class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  std::optional<json> whole() {
    skip();
    json value;
    if (!read(value, 0)) return std::nullopt;
    skip();
    if (at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  bool read(json& into, int depth) {
    switch (peek()) {
      case '{':
      case '[':
        if (depth >= deepest) return skip_nested(into);
        return peek() == '{' ? read_object(into, depth) : read_array(into, depth);
      default:
        return read_plain(into);
    }
  }

  bool read_plain(json& into) {
    switch (peek()) {
      case '"': {
        std::string text;
        if (!read_string(text)) return false;
        into = json(std::move(text));
        return true;
      }
      case 't':
        into = json(true);
        return word("true");
      case 'f':
        into = json(false);
        return word("false");
      case 'n':
        into = json(nullptr);
        return word("null");
      default:
        return read_number(into);
    }
  }

  bool read_object(json& into, int depth) {
    std::vector<json::member> members;
    ++at_;
    skip();
    if (!take('}')) {
      do {
        json::member one;
        skip();
        if (!read_string(one.first)) return false;
        skip();
        if (!take(':')) return false;
        skip();
        if (!read(one.second, depth + 1)) return false;
        members.push_back(std::move(one));
        skip();
      } while (take(','));
      if (!take('}')) return false;
    }
    into = json::object(in_order(std::move(members)));
    return true;
  }

  bool read_array(json& into, int depth) {
    std::vector<json> items;
    ++at_;
    skip();
    if (!take(']')) {
      do {
        skip();
        items.emplace_back();
        if (!read(items.back(), depth + 1)) return false;
        skip();
      } while (take(','));
      if (!take(']')) return false;
    }
    into = json::array(std::move(items));
    return true;
  }

  /** Checks what is nested too deep to be kept, with a list of what is open in place of the stack. */
  bool skip_nested(json& into) {
    into = json::opaque(peek() == '{' ? json::kind::object : json::kind::array);
    std::string open;
    bool is_value_next = true;
    for (;;) {
      skip();
      if (is_value_next) {
        const char c = peek();
        if (c == '{' || c == '[') {
          ++at_;
          open.push_back(c);
          skip();
          if (peek() == (c == '{' ? '}' : ']')) {
            is_value_next = false;
          } else if (c == '{' && !read_name()) {
            return false;
          }
          continue;
        }
        json ignored;
        if (!read_plain(ignored)) return false;
        is_value_next = false;
        continue;
      }
      const bool is_object = open.back() == '{';
      if (take(',')) {
        skip();
        if (is_object && !read_name()) return false;
        is_value_next = true;
        continue;
      }
      if (!take(is_object ? '}' : ']')) return false;
      open.pop_back();
      if (open.empty()) return true;
    }
  }

  bool read_name() {
    std::string ignored;
    if (!read_string(ignored)) return false;
    skip();
    return take(':');
  }

  bool digits() {
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > from;
  }

  bool read_number(json& into) {
    const std::size_t from = at_;
    take('-');
    if (take('0')) {
      if (peek() >= '0' && peek() <= '9') return false;
    } else if (!digits()) {
      return false;
    }
    if (take('.') && !digits()) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    into = json(number_in(std::string(text_.substr(from, at_ - from))));
    return true;
  }

  std::optional<unsigned> four_digits() {
    if (text_.size() - at_ < 4) return std::nullopt;
    unsigned value = 0;
    for (int count = 0; count < 4; ++count) {
      const char c = text_[at_++];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<unsigned>(digit);
    }
    return value;
  }

  bool read_string(std::string& into) {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        into.push_back(c);
        continue;
      }
      if (at_ >= text_.size() || !read_escape(into)) return false;
    }
    return false;
  }

  bool read_escape(std::string& into) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    const char c = text_[at_++];
    if (c != 'u') {
      const std::size_t found = names.find(c);
      if (found == std::string_view::npos) return false;
      into.push_back(meant[found]);
      return true;
    }
    const auto unit = four_digits();
    if (!unit) return false;
    append_unit(into, *unit);
    return true;
  }
};

std::string quoted(const std::string& text) {
  std::string into = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    char escaped[8];
    if (c == '"' || c == '\\') {
      into += '\\';
      into += text[at];
    } else if (c < 0x20) {
      const std::size_t found = std::string_view("\b\f\n\r\t").find(text[at]);
      if (found != std::string_view::npos) {
        into += '\\';
        into += "bfnrt"[found];
      } else {
        std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
        into += escaped;
      }
    } else if (c == 0xed && at + 2 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) {
      const unsigned unit = 0xd000U | (static_cast<unsigned>(text[at + 1]) & 0x3fU) << 6 | (static_cast<unsigned>(text[at + 2]) & 0x3fU);
      std::snprintf(escaped, sizeof escaped, "\\u%04x", unit);
      into += escaped;
      at += 2;
    } else {
      into += text[at];
    }
  }
  return into + '"';
}

std::string spelled(double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  if (value == std::floor(value) && std::fabs(value) <= 9007199254740991.0) {
    std::snprintf(text, sizeof text, "%.0f", value == 0 ? 0.0 : value);
    return text;
  }
#if defined(__cpp_lib_to_chars)
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
#else
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
#endif
}

}  // namespace

json::json() = default;
json::json(std::nullptr_t) : kind_(kind::null) {}
json::json(bool value) : kind_(kind::boolean), number_(value ? 1 : 0) {}
json::json(double value) : kind_(kind::number), number_(value) {}
json::json(int value) : json(static_cast<double>(value)) {}
json::json(std::int64_t value) : json(static_cast<double>(value)) {}
json::json(std::string value) : kind_(kind::string), text_(std::move(value)) {}
json::json(std::string_view value) : json(std::string(value)) {}
json::json(const char* value) : json(std::string(value)) {}
json::json(const json&) = default;
json::json(json&&) noexcept = default;
json& json::operator=(const json&) = default;
json& json::operator=(json&&) noexcept = default;
json::~json() = default;

json json::array(std::vector<json> items) {
  json made;
  made.kind_ = kind::array;
  made.items_ = std::move(items);
  return made;
}

json json::object(std::vector<member> members) {
  json made;
  made.kind_ = kind::object;
  made.members_ = std::move(members);
  return made;
}

json json::opaque(kind of) {
  json made;
  made.kind_ = of;
  return made;
}

const json& json::operator[](std::string_view name) const {
  for (const auto& one : members_) {
    if (one.first == name) return one.second;
  }
  return none;
}

json& json::set(std::string_view name, json value) {
  if (!value.is(kind::undefined)) members_.emplace_back(name, std::move(value));
  return *this;
}

bool json::same(const json& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case kind::undefined:
    case kind::null:
      return true;
    case kind::boolean:
    case kind::number:
      return number_ == other.number_;
    case kind::string:
      return text_ == other.text_;
    default:
      return false;
  }
}

std::string json::dump() const {
  std::string into;
  switch (kind_) {
    case kind::undefined:
    case kind::null:
      return "null";
    case kind::boolean:
      return number_ != 0 ? "true" : "false";
    case kind::number:
      return spelled(number_);
    case kind::string:
      return quoted(text_);
    case kind::array:
      for (const auto& one : items_) into += (into.empty() ? "" : ",") + one.dump();
      return '[' + into + ']';
    case kind::object:
      for (const auto& one : members_) into += (into.empty() ? "" : ",") + quoted(one.first) + ':' + one.second.dump();
      return '{' + into + '}';
  }
  return into;
}

std::optional<json> parse_json(std::string_view text) { return reader(text).whole(); }

bool is_filled(const json& value) { return value.is_text() && !value.text().empty(); }

bool is_field(const json& value) { return is_filled(value) && value.text().find('|') == std::string::npos; }

bool is_safe_integer(const json& value) {
  return value.is_number() && std::floor(value.number()) == value.number() && std::fabs(value.number()) <= 9007199254740991.0;
}

bool is_seconds(const json& value) { return is_safe_integer(value) && value.number() >= 0; }

}  // namespace keyledger
