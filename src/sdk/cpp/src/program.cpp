#include "program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace keyledger {
namespace {

[[noreturn]] void fail(const std::string& what, int error) { throw std::runtime_error(what + ": " + std::strerror(error)); }

/** One end of a connection to a program. */
class end {
 public:
  /** In an app whose own input is closed the number may be that of a standard stream, which the program gets anew. */
  void take(int file) {
    file_ = file;
    if (file > 2) return;
    file_ = ::fcntl(file, F_DUPFD_CLOEXEC, 3);
    const int error = errno;
    ::close(file);
    if (file_ < 0) fail("a program cannot be connected", error);
  }
  end() = default;
  end(const end&) = delete;
  end& operator=(const end&) = delete;
  ~end() { close(); }
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  int file() const { return file_; }
  bool is_open() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

/** A socket rather than a pipe, since writing to a pipe that nobody reads would end the app with a signal. */
struct connection {
  end own;
  end other;
  connection() {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0) fail("a program cannot be connected", errno);
    own.take(both[0]);
    other.take(both[1]);
  }
};

struct actions {
  posix_spawn_file_actions_t made;
  posix_spawnattr_t attributes;
  actions() {
    ::posix_spawn_file_actions_init(&made);
    ::posix_spawnattr_init(&attributes);
  }
  actions(const actions&) = delete;
  actions& operator=(const actions&) = delete;
  ~actions() {
    ::posix_spawn_file_actions_destroy(&made);
    ::posix_spawnattr_destroy(&attributes);
  }
};

/** Starts a program with three ends as its streams. @return 0 when there is no such program */
pid_t spawn(std::vector<std::string>& words, const end& in, const end& out, const end& err) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  actions with;
  ::posix_spawn_file_actions_adddup2(&with.made, in.file(), 0);
  ::posix_spawn_file_actions_adddup2(&with.made, out.file(), 1);
  ::posix_spawn_file_actions_adddup2(&with.made, err.file(), 2);
  // What the app does with signals is no matter of the program.
  sigset_t none;
  sigset_t usual;
  ::sigemptyset(&none);
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigmask(&with.attributes, &none);
  ::posix_spawnattr_setsigdefault(&with.attributes, &usual);
  ::posix_spawnattr_setflags(&with.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, arguments[0], &with.made, &with.attributes, arguments.data(), environ);
  if (error == ENOENT) return 0;
  if (error != 0) fail(words[0] + " cannot be run", error);
  return process;
}

/** Appends what has come. It is closed at its end. */
void receive(end& from, std::string& into) {
  char part[4096];
  const ssize_t size = ::read(from.file(), part, sizeof part);
  if (size > 0) into.append(part, static_cast<std::size_t>(size));
  if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) from.close();
}

/** Sends what fits. It is closed after the last byte, or when nobody reads. */
void send_some(end& to, const std::string& text, std::size_t& at) {
  const ssize_t size = at < text.size() ? ::send(to.file(), text.data() + at, text.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
  if (size > 0) at += static_cast<std::size_t>(size);
  if (at == text.size() || (size < 0 && errno != EINTR && errno != EAGAIN)) to.close();
}

/** Sends and receives until the program has closed its streams. @return false when the time is over */
bool converse(end& in, const std::string& text, end& out, end& err, program_result& made, std::chrono::milliseconds limit) {
  using steady = std::chrono::steady_clock;
  const auto until = steady::now() + limit;
  std::size_t at = 0;
  while (in.is_open() || out.is_open() || err.is_open()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady::now()).count();
    if (left <= 0) return false;
    // A number below 0 is left out.
    pollfd files[] = {{in.file(), POLLOUT, 0}, {out.file(), POLLIN, 0}, {err.file(), POLLIN, 0}};
    if (::poll(files, 3, static_cast<int>(left)) <= 0) continue;
    if (files[0].revents != 0) send_some(in, text, at);
    if (files[1].revents != 0) receive(out, made.out);
    if (files[2].revents != 0) receive(err, made.err);
  }
  return true;
}

/** Waits for the end of a program. @return its exit code; -1 when there is none to get */
int code_of(pid_t process) {
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(process, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::optional<program_result> run_program(std::vector<std::string> words, const std::string& in, std::chrono::milliseconds limit) {
  connection input;
  connection output;
  connection errors;
  const pid_t process = spawn(words, input.other, output.other, errors.other);
  if (process == 0) return std::nullopt;
  for (end* one : {&input.other, &output.other, &errors.other}) one->close();
  program_result made;
  const bool is_in_time = converse(input.own, in, output.own, errors.own, made, limit);
  if (!is_in_time) ::kill(process, SIGKILL);
  made.code = code_of(process);
  if (!is_in_time) throw std::runtime_error(words[0] + " has not ended in time");
  return made;
}

}  // namespace keyledger
