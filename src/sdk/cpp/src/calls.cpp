#include "calls.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "text.hpp"

namespace keyledger {
namespace {

/** A server that asks for a longer pause is not waited for within a call. */
constexpr std::int64_t longest_pause_ms = 10000;

}  // namespace

std::string segment(const std::string& name, const std::string& value) {
  if (value.empty() || value == "." || value == ".." || !is_utf8(value)) throw std::invalid_argument(name + " is missing, or is not an id");
  static constexpr std::string_view digits = "0123456789ABCDEF";
  static constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()";
  std::string into;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain.find(c) != std::string_view::npos) {
      into += c;
    } else {
      into += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return into;
}

double full_jitter(int attempt, double base_ms, double most_ms, double random) {
  return random * std::min(most_ms, base_ms * std::pow(2, attempt));
}

calls::calls(const client_options& options, const std::string& address) : options_(options) {
  if (address.empty()) return;
  root_ = address;
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
  root_ += '/' + segment("tenant_id", options.tenant_id);
  product_ = segment("product_id", options.product_id);
}

std::optional<answered> calls::request(const std::string& path, const json& body) {
  const bool has_body = !body.is(json::kind::undefined);
  http_request asked{has_body ? "POST" : "GET", root_ + path, {}, has_body ? body.dump() : "", options_.timeout_ms};
  const bool is_of_product = path.rfind("/.well-known", 0) != 0;
  if (is_of_product && !options_.sdk_key.empty()) asked.headers.emplace_back("x-service-sdk-key", options_.sdk_key);
  if (has_body) asked.headers.emplace_back("content-type", "application/json");
  const auto response = options_.transport->send(asked);
  if (!response) return std::nullopt;
  return answered{response->status, body_in(response->body), retry_after_ms(response->retry_after, options_.clock->now_ms())};
}

failure calls::send(const std::string& name, const json& body, const std::function<failure(const answered&)>& judge, int attempts) {
  if (root_.empty()) return problem{problem_code::no_server, "this client has no license server: set base_url and sdk_key, or relays", {}, {}, {}};
  const std::int64_t wait = not_before_ - options_.clock->now_ms();
  if (wait > 0) return problem{problem_code::rate_limited, "the license server asked for a pause, which is not over", wait, {}, {}};
  for (int attempt = 0;; ++attempt) {
    const auto answer = request('/' + product_ + '/' + name, body);
    const failure why = answer ? judge(*answer) : failure(problem_of(std::nullopt));
    if (!why || !is_passing(*why)) return why;
    const std::int64_t pause = why->retry_after_ms.value_or(0);
    if (why->retry_after_ms) not_before_ = options_.clock->now_ms() + pause;
    if (attempt + 1 >= attempts || pause > longest_pause_ms) return why;
    options_.clock->sleep_ms(pause + static_cast<std::int64_t>(full_jitter(attempt, 500, 8000, options_.random())));
  }
}

key_map calls::keyset() {
  key_map made;
  if (root_.empty()) return made;
  const auto answer = request("/.well-known/service-keys", json());
  if (!answer || answer->status != 200) return made;
  for (const auto& [kid, key] : answer->body["keys"].members()) {
    if (is_key_of(kid, key)) made[kid] = key.text();
  }
  return made;
}

}  // namespace keyledger
