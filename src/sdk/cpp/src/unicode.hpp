#ifndef KEYLEDGER_UNICODE_HPP
#define KEYLEDGER_UNICODE_HPP

#include <string>

namespace keyledger {

/** A text in the form NFKC, in upper case, as JavaScript makes them. */
std::string upper_nfkc(const std::string& text);

/** A text in lower case, likewise. A final sigma is written as any other. */
std::string lower(const std::string& text);

}  // namespace keyledger

#endif
