#ifndef KEYLEDGER_PROGRAM_HPP
#define KEYLEDGER_PROGRAM_HPP

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace keyledger {

/** What a program has led to. */
struct program_result {
  /** Its exit code; -1 when a signal has ended it. */
  int code = -1;
  std::string out;
  std::string err;
};

/**
 * Runs a program, without a shell, and waits for its end.
 * @param words its name, which is looked for on the PATH, and its arguments
 * @param in what it reads
 * @param limit how long it may take, before it is ended
 * @return nothing when there is no such program
 * @throws std::runtime_error when it cannot be run, or takes longer
 */
std::optional<program_result> run_program(std::vector<std::string> words, const std::string& in, std::chrono::milliseconds limit);

}  // namespace keyledger

#endif
