#ifndef KEYLEDGER_ANSWER_HPP
#define KEYLEDGER_ANSWER_HPP

#include "json.hpp"
#include "keyledger/problem.hpp"

namespace keyledger {

/** What a server has answered. The body is undefined when it is no JSON. */
struct answered {
  int status = 0;
  json body;
  std::optional<std::int64_t> retry_after_ms;
};

/** The problem that an answer without success stands for; without an answer, that none came. */
problem problem_of(const std::optional<answered>& answer);

/** Whether sending the same again may help. */
bool is_passing(const problem& why);

/** The code with this name; nothing for any other text. */
std::optional<problem_code> code_named(const std::string& name);

/** Reads `Retry-After`: seconds or a date. @return milliseconds from now, at most a day */
std::optional<std::int64_t> retry_after_ms(const std::optional<std::string>& header, std::int64_t now_ms);

/** The body of an answer as it is read: nothing when it is too long for one, or no JSON. */
json body_in(const std::string& raw);

}  // namespace keyledger

#endif
