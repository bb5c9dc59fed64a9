/**
 * Prints how long it is from the first line of a program to its first state, without a network.
 * Its arguments are a tenant id, a product id, the hash of the machine, a storage, and the time in milliseconds.
 */
#include <chrono>
#include <cstdio>
#include <string>

#include "keyledger/client.hpp"

namespace {

class told_clock : public keyledger::clock {
 public:
  explicit told_clock(std::int64_t ms) : ms_(ms) {}
  std::int64_t now_ms() override { return ms_; }
  void sleep_ms(std::int64_t) override {}

 private:
  std::int64_t ms_;
};

}  // namespace

int main(int count, char** words) {
  const auto begun = std::chrono::steady_clock::now();
  if (count != 6) return 2;
  keyledger::client_options options;
  options.tenant_id = words[1];
  options.product_id = words[2];
  // The machine is read as an app does, though the storage is of another one.
  options.identity = [&words] {
    keyledger::identify_device(words[1], words[2]);
    return keyledger::device_identity{words[3], {}};
  };
  options.storage = std::make_shared<keyledger::file_storage>(words[4]);
  options.clock = std::make_shared<told_clock>(std::stoll(words[5]));
  keyledger::client app(std::move(options));
  const keyledger::state first = app.start();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begun;
  std::printf("%s after %.2f ms\n", keyledger::name_of(first.is), taken.count());
}
