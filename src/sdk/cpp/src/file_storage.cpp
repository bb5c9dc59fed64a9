#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "keyledger/ports.hpp"

namespace keyledger {
namespace {

[[noreturn]] void fail(const std::string& path) { throw std::runtime_error(path + ": " + std::strerror(errno)); }

class opened {
 public:
  opened(const std::string& path, int flags) : path_(path), file_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  ~opened() {
    if (file_ >= 0) ::close(file_);
  }
  bool is_open() const { return file_ >= 0; }

  std::string read() const {
    std::string text;
    char part[4096];
    for (;;) {
      const ssize_t size = ::read(file_, part, sizeof part);
      if (size < 0 && errno != EINTR) fail(path_);
      if (size == 0) return text;
      if (size > 0) text.append(part, static_cast<std::size_t>(size));
    }
  }

  void write(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t size = ::write(file_, text.data() + at, text.size() - at);
      if (size < 0 && errno != EINTR) fail(path_);
      if (size > 0) at += static_cast<std::size_t>(size);
    }
    sync();
  }

  void sync() const {
    if (::fsync(file_) != 0) fail(path_);
  }

 private:
  const std::string& path_;
  int file_;
};

void make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    if (::mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) fail(path.substr(0, at));
  }
}

}  // namespace

std::optional<std::string> file_storage::read() {
  const opened file(path_, O_RDONLY);
  if (file.is_open()) return file.read();
  if (errno == ENOENT) return std::nullopt;
  fail(path_);
}

void file_storage::write(const std::string& text) {
  make_folders(path_);
  const std::string draft = path_ + '.' + std::to_string(::getpid()) + '-' + std::to_string(++writes_) + ".tmp";
  // One that a former process of this number has left.
  ::unlink(draft.c_str());
  {
    const opened file(draft, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open()) fail(draft);
    file.write(text);
  }
  if (::rename(draft.c_str(), path_.c_str()) != 0) fail(path_);
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const opened directory(folder, O_RDONLY);
  // The name is lasting as well.
  if (directory.is_open()) directory.sync();
}

}  // namespace keyledger
