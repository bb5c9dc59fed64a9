/** An app that asks for a license key when it has none, and says what it may do. */
#include <keyledger/client.hpp>
#include <keyledger/curl.hpp>

#include <cstdlib>
#include <iostream>

int main(int count, char** words) {
  if (count < 2) {
    std::cerr << "usage: app <address of the license server> [license key]\n";
    return 2;
  }
  const char* home = std::getenv("HOME");
  keyledger::client_options options;
  options.tenant_id = "acme";
  options.product_id = "acme-editor";
  options.base_url = words[1];
  options.sdk_key = "the SDK key of your tenant";
  options.storage = std::make_shared<keyledger::file_storage>(std::string(home == nullptr ? "." : home) + "/.config/acme-editor/license.json");
  options.transport = std::make_shared<keyledger::curl_transport>();
  options.identity = [] { return keyledger::identify_device("acme", "acme-editor"); };
  keyledger::client client(std::move(options));

  client.start();
  const auto found = count > 2 ? client.activate(words[2]) : client.validate();
  if (found.problem) std::cerr << keyledger::name_of(found.problem->code) << ": " << found.problem->message << '\n';
  std::cout << keyledger::to_json(found.state) << '\n';
  std::cout << (client.has("export") ? "Export is available." : "Export needs a license.") << '\n';
}
