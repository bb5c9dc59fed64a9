#ifndef KEYLEDGER_TEXT_HPP
#define KEYLEDGER_TEXT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keyledger {

/** Bytes are kept in strings as well. */
using bytes = std::string;

/** Appends a code point; an unpaired surrogate becomes three bytes, as in WTF-8. */
void append_point(std::string& into, char32_t point);

/** Appends a unit of UTF-16: the second half of a pair joins the first one, which the text then ends with. */
void append_unit(std::string& into, unsigned unit);

/** The next code point of a text in WTF-8. */
char32_t next_point(std::string_view text, std::size_t& at);

/** Whether the bytes are UTF-8 in its only spelling. */
bool is_utf8(std::string_view text);

/** Bytes as a browser reads them as UTF-8: what is none becomes U+FFFD. */
std::string replaced(std::string_view text);

/** The UTF-8 of a text: unpaired surrogates become U+FFFD, as TextEncoder does. */
std::string encoded(const std::string& text);

/** How many units of UTF-16 a text has. */
std::size_t length_of(std::string_view text);

/** Whether JavaScript's `\s` takes it. */
bool is_space(char32_t point);

/** Without white space at both ends, in JavaScript's sense. */
std::string trimmed(const std::string& text);

/** The bytes of canonical base64; nothing for anything else, also for another spelling of the same bytes. */
std::optional<bytes> from_base64(std::string_view text);
/** The same of base64url without padding. */
std::optional<bytes> from_base64url(std::string_view text);
/** The bytes of base64 as `atob` reads it: white space, missing padding and unused bits are no matter. */
std::optional<bytes> from_loose_base64(std::string_view text);
std::string to_base64url(std::string_view data);

std::string to_hex(std::string_view data);
/** @return nothing for what is not lower-case hex */
std::optional<bytes> from_hex(std::string_view text);

/** The seconds of `2026-11-01T09:30:00Z`, the only notation of times in tokens; nothing for any other. */
std::optional<std::int64_t> seconds_from(const std::string& text);

/** The notation `2026-11-01T09:30:00.000Z`. */
std::string iso_time(std::int64_t seconds);

/** Days since 1970-01-01 of a date. */
std::int64_t days_of(std::int64_t year, unsigned month, unsigned day);

}  // namespace keyledger

#endif
