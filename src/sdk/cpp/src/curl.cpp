#include "keyledger/curl.hpp"

#include <curl/curl.h>
#include <strings.h>

#include <cstdlib>
#include <stdexcept>

namespace keyledger {
namespace {

/** More bytes than the longest answer of the server has. */
constexpr std::size_t longest = 262144;

struct received {
  http_response response;
  bool is_too_long = false;
};

std::size_t take_body(char* data, std::size_t, std::size_t size, void* into) {
  auto& to = *static_cast<received*>(into);
  to.is_too_long = to.is_too_long || to.response.body.size() + size > longest;
  if (to.is_too_long) return 0;
  to.response.body.append(data, size);
  return size;
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* into) {
  static const std::string name = "retry-after:";
  auto& to = *static_cast<received*>(into);
  // A redirect is an answer as well; only the headers of the last one count.
  if (size >= 5 && std::string(data, 5) == "HTTP/") to.response.retry_after.reset();
  if (size > name.size() && ::strncasecmp(data, name.c_str(), name.size()) == 0) to.response.retry_after = std::string(data + name.size(), size - name.size());
  return size;
}

CURL* made() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL* handle = ready == CURLE_OK ? curl_easy_init() : nullptr;
  if (handle == nullptr) throw std::runtime_error("libcurl cannot be used");
  return handle;
}

/**
 * The proxy that libcurl does not take from the environment by itself: it reads HTTP_PROXY only in lower case, since in a program that a web
 * server has started, a request can set it.
 */
std::string proxy_of_environment(const std::string& url) {
  const char* proxy = std::getenv("HTTP_PROXY");
  const bool is_of_libcurl = std::getenv("http_proxy") != nullptr || url.rfind("http:", 0) != 0;
  return proxy == nullptr || is_of_libcurl || std::getenv("REQUEST_METHOD") != nullptr ? "" : proxy;
}

}  // namespace

curl_transport::curl_transport(std::string proxy) : handle_(made()), proxy_(std::move(proxy)) {}
curl_transport::~curl_transport() { curl_easy_cleanup(handle_); }

std::optional<http_response> curl_transport::send(const http_request& request) {
  CURL* handle = handle_;
  curl_easy_reset(handle);
  received found;
  curl_slist* headers = nullptr;
  for (const auto& [name, value] : request.headers) headers = curl_slist_append(headers, (name + ": " + value).c_str());
  // Without it, curl waits a second before it sends a longer body.
  headers = curl_slist_append(headers, "Expect:");
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  // Over a connection that was kept, curl would send a request again by itself when its answer is lost.
  curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 20L);
  curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &found);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &found);
  const std::string proxy = proxy_.empty() ? proxy_of_environment(request.url) : proxy_;
  if (!proxy.empty()) curl_easy_setopt(handle, CURLOPT_PROXY, proxy.c_str());
  if (request.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  const CURLcode code = curl_easy_perform(handle);
  curl_slist_free_all(headers);
  if (code != CURLE_OK && !found.is_too_long) return std::nullopt;
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  found.response.status = static_cast<int>(status);
  // What is longer comes from something else than the server.
  if (found.is_too_long) found.response.body.clear();
  return found.response;
}

}  // namespace keyledger
