#ifndef KEYLEDGER_CURL_HPP
#define KEYLEDGER_CURL_HPP

#include "keyledger/ports.hpp"

namespace keyledger {

/**
 * Sends requests with libcurl, with the certificates of the system's store, and through a proxy if there is one: as `HTTPS_PROXY`, `HTTP_PROXY`
 * and `NO_PROXY` say, which may be written in lower case. What Windows and macOS have set is not read.
 * It is in the library of its own `keyledger-client-curl`, so that the client can be built without libcurl.
 */
class curl_transport : public transport {
 public:
  /**
   * @param proxy the address of a proxy, `http://proxy.example.com:3128`, in place of those of the environment; empty for these
   * @throws std::runtime_error when libcurl cannot be used
   */
  explicit curl_transport(std::string proxy = {});
  ~curl_transport() override;
  curl_transport(const curl_transport&) = delete;
  curl_transport& operator=(const curl_transport&) = delete;
  /** @return nothing when no complete answer came in time; one without its body when that is longer than any answer of the server */
  std::optional<http_response> send(const http_request& request) override;

 private:
  void* handle_;
  std::string proxy_;
};

}  // namespace keyledger

#endif
