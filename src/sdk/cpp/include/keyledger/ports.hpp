#ifndef KEYLEDGER_PORTS_HPP
#define KEYLEDGER_PORTS_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keyledger {

/** What a transport sends. */
struct http_request {
  /** `GET` or `POST`. */
  std::string method;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  /** After so many milliseconds there is no answer. */
  std::int64_t timeout_ms = 15000;
};

/** What has come back, of any status. */
struct http_response {
  int status = 0;
  std::string body;
  /** The header `Retry-After`. */
  std::optional<std::string> retry_after;
};

/** Sends requests. `curl_transport` in `keyledger/curl.hpp` is the default one. */
class transport {
 public:
  virtual ~transport() = default;
  /**
   * Sends a request once. It is never called twice at the same time.
   * @return nothing when no complete answer came in time
   */
  virtual std::optional<http_response> send(const http_request& request) = 0;
};

/**
 * Where an app keeps what it has to remember: one text. Both functions may throw a `std::exception`, whose text `on_storage_error` gets; the client
 * goes on with what it has in memory.
 */
class storage {
 public:
  virtual ~storage() = default;
  /** @return nothing when nothing was written yet */
  virtual std::optional<std::string> read() = 0;
  /** Replaces what was written before, as a whole or not at all. */
  virtual void write(const std::string& text) = 0;
};

/** Remembers until the program ends. */
class memory_storage : public storage {
 public:
  std::optional<std::string> read() override { return text_; }
  void write(const std::string& text) override { text_ = text; }

 private:
  std::optional<std::string> text_;
};

/**
 * Keeps it in a file that only its user can read. A write is complete or does not happen: a crash leaves the former text.
 */
class file_storage : public storage {
 public:
  /** @param path for example below `~/.config`; missing folders are made */
  explicit file_storage(std::string path) : path_(std::move(path)) {}
  /** @throws std::runtime_error when there is a file that cannot be read */
  std::optional<std::string> read() override;
  /** @throws std::runtime_error when the file cannot be written */
  void write(const std::string& text) override;

 private:
  std::string path_;
  unsigned writes_ = 0;
};

/** The time, which tests replace. */
class clock {
 public:
  virtual ~clock() = default;
  /** Milliseconds since 1970. */
  virtual std::int64_t now_ms() = 0;
  /** Waits between two attempts. */
  virtual void sleep_ms(std::int64_t ms) = 0;
};

/** @return the clock of the system */
std::shared_ptr<clock> system_clock();

/** What an app says of its device, as hashes. A device that says the same again keeps its seat, whatever its name. */
struct device_identity {
  /** A hash of an id of the machine: 16 to 128 of `A–Z a–z 0–9 + / = _ -`. */
  std::optional<std::string> machine_hash;
  /** Hashes of up to 8 components in the same form, by names such as `board`, `disk`, `mac`, `os` and `uuid`. */
  std::map<std::string, std::string> components;
};

/**
 * Reads what tells this machine from others, on Linux. Only hashes are returned, which depend on the product. It never throws.
 * What cannot be read, or is the same on many machines, is left out; in containers, and on other systems, nothing is left.
 */
device_identity identify_device(const std::string& tenant_id, const std::string& product_id);

}  // namespace keyledger

#endif
