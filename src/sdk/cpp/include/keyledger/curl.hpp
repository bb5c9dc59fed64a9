#ifndef KEYLEDGER_CURL_HPP
#define KEYLEDGER_CURL_HPP

#include "keyledger/ports.hpp"

namespace keyledger {

/**
 * Sends requests with libcurl: proxies as `https_proxy`, `http_proxy` and `no_proxy` say, and certificates of the system's store.
 * It is in the library of its own `keyledger-client-curl`, so that the client can be built without libcurl.
 */
class curl_transport : public transport {
 public:
  curl_transport();
  ~curl_transport() override;
  std::optional<http_response> send(const http_request& request) override;

 private:
  void* handle_;
};

}  // namespace keyledger

#endif
