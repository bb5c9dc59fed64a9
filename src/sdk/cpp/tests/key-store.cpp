/**
 * Writes what it reads into the key store of the system, or prints what is there: the text after a `+`, or a `-` when there is none. It fails with
 * what the key store says. Its arguments are `read` or `write`, a tenant id and a product id.
 */
#include <iostream>
#include <iterator>

#include "keyledger/key_store.hpp"

int main(int count, char** words) {
  if (count != 4) return 2;
  keyledger::key_store_storage storage(words[2], words[3]);
  try {
    if (std::string(words[1]) == "write") {
      storage.write(std::string(std::istreambuf_iterator<char>(std::cin), {}));
      return 0;
    }
    const auto text = storage.read();
    std::cout << (text ? '+' + *text : "-");
  } catch (const std::exception& error) {
    std::cerr << error.what();
    return 1;
  }
}
