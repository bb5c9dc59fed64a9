#ifndef KEYLEDGER_JSON_HPP
#define KEYLEDGER_JSON_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyledger {

/**
 * A value of JSON as JavaScript reads it: of two members with one name the last counts, members whose names are numbers come
 * first, and text may hold unpaired surrogates (three bytes each, as in WTF-8). What is absent is `undefined`.
 */
class json {
 public:
  enum class kind { undefined, null, boolean, number, string, array, object };
  using member = std::pair<std::string, json>;

  json();
  json(const json& other);
  json(json&& other) noexcept;
  json& operator=(const json& other);
  json& operator=(json&& other) noexcept;
  ~json();
  json(std::nullptr_t);
  json(bool value);
  json(double value);
  json(int value);
  json(std::int64_t value);
  json(std::string value);
  json(std::string_view value);
  json(const char* value);
  template <class T>
  json(const std::optional<T>& value) : json(value ? json(*value) : json()) {}

  static json array(std::vector<json> items = {});
  static json object(std::vector<member> members = {});
  /** Text without its members: what stands deeper than any statement does. */
  static json opaque(kind of);

  bool is(kind other) const { return kind_ == other; }
  bool is_nullish() const { return kind_ == kind::undefined || kind_ == kind::null; }
  bool is_object() const { return kind_ == kind::object; }
  bool is_text() const { return kind_ == kind::string; }
  bool is_true() const { return kind_ == kind::boolean && number_ != 0; }
  bool is_boolean() const { return kind_ == kind::boolean; }
  bool is_number() const { return kind_ == kind::number; }

  const std::string& text() const { return text_; }
  double number() const { return number_; }
  const std::vector<json>& items() const { return items_; }
  const std::vector<member>& members() const { return members_; }

  /** A member of an object; `undefined` when there is none, or this is no object. */
  const json& operator[](std::string_view name) const;

  /** Sets a member, unless the value is undefined. */
  json& set(std::string_view name, json value);

  /** Equal as JavaScript's `===` says: objects and lists never are, since each is itself alone. */
  bool same(const json& other) const;

  /** The text, as JSON.stringify writes it without spaces. */
  std::string dump() const;

 private:
  kind kind_ = kind::undefined;
  double number_ = 0;
  std::string text_;
  std::vector<json> items_;
  std::vector<member> members_;
};

/**
 * Reads JSON. Any depth is read without a stack of its own: what is nested deeper than 32 levels is checked, and not kept.
 * @param text well-formed UTF-8
 * @return nothing for what JSON.parse refuses
 */
std::optional<json> parse_json(std::string_view text);

/** Non-empty text. */
bool is_filled(const json& value);
/** Text without the separator of signed strings. */
bool is_field(const json& value);
/** Unix seconds, in the only notation that a signed string uses: a safe integer that is not negative. */
bool is_seconds(const json& value);
/** A safe integer. */
bool is_safe_integer(const json& value);
inline std::int64_t integer(const json& value) { return static_cast<std::int64_t>(value.number()); }

}  // namespace keyledger

#endif
