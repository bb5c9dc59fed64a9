#ifndef KEYLEDGER_TESTS_CASES_HPP
#define KEYLEDGER_TESTS_CASES_HPP

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "keyset.hpp"

namespace keyledger {

/** A file of the vectors. @throws std::runtime_error when it cannot be read */
inline json read_cases(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  auto value = parse_json(text.str());
  if (!value) throw std::runtime_error(path + " cannot be read");
  return *value;
}

inline key_map keys_in(const json& all) {
  key_map keys;
  for (const auto& [kid, key] : all["keyset"]["keys"].members()) keys[kid] = key.text();
  return keys;
}
inline place place_in(const json& all) { return {all["tenantId"].text(), all["productId"].text()}; }

}  // namespace keyledger

#endif
