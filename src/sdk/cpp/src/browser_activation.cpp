#include <algorithm>

#include "operations.hpp"

namespace keyledger {
namespace {

problem refused_because(const char* message) { return {problem_code::refused, message, {}, {}, {}}; }

bool is_address_of_page(const std::string& text) { return text.rfind("http://", 0) == 0 || text.rfind("https://", 0) == 0; }

std::optional<browser_wait> wait_in(const answered& answer) {
  const json& device_code = answer.body["device_code"];
  const json& code = answer.body["user_code"];
  const json& url = answer.body["verification_uri_complete"];
  const json& interval = answer.body["interval"];
  const json& expires_in = answer.body["expires_in"];
  if (answer.status != 200 || !device_code.is_text() || !code.is_text() || !is_seconds(interval) || !is_seconds(expires_in)) return std::nullopt;
  // The app opens it, so it is an address of a page and nothing else.
  if (!url.is_text() || !is_address_of_page(url.text())) return std::nullopt;
  const std::int64_t seconds = std::max<std::int64_t>(1, integer(interval));
  return browser_wait{{url.text(), code.text()}, device_code.text(), seconds * 1000, integer(expires_in) / seconds};
}

}  // namespace

problem no_choice_in_time() { return refused_because("no license was chosen in time"); }

failure operations::ask_in_browser(browser_wait& into) {
  const json body = json::object({{"device_name", name_of_device(held.load())}});
  return vendor_.send("browser-activations", body, [&](const answered& answer) -> failure {
    auto found = wait_in(answer);
    if (!found) return problem_of(answer);
    into = std::move(*found);
    return std::nullopt;
  });
}

failure operations::poll_browser(const std::string& device_code, std::optional<std::string>& key) {
  return vendor_.send("browser-activations/poll", json::object({{"device_code", device_code}}), [&](const answered& answer) -> failure {
    const json& status = answer.body["status"];
    if (answer.status != 200 || !status.is_text()) return problem_of(answer);
    if (status.text() == "pending") return std::nullopt;
    if (status.text() == "denied") return refused_because("the person has chosen no license for this app");
    if (status.text() != "chosen" || !answer.body["license_key"].is_text()) return no_choice_in_time();
    key = answer.body["license_key"].text();
    return std::nullopt;
  });
}

}  // namespace keyledger
