#ifndef KEYLEDGER_MACHINE_HPP
#define KEYLEDGER_MACHINE_HPP

#include "keyledger/client.hpp"
#include "proof.hpp"

namespace keyledger {

/** What a system says of its machine. */
struct machine_reading {
  /** Together they tell the machine from every other. An absent one could not be read, though the system has it. */
  std::vector<std::optional<std::string>> machine;
  /** By the names of the components. */
  std::map<std::string, std::optional<std::string>> components;
};

/** Without zero bytes and white space at its ends, in lower case. */
std::string plain_value(const std::string& value);

/** Whether a value tells nothing about a machine, because many have it. */
bool is_shared(const std::string& value);

/** The hashes of a machine that are sent. */
device_identity identity_of(const place& at, const machine_reading& reading);

/** Reads this machine. @return an empty reading in a container, and on systems other than Linux */
machine_reading read_machine();

}  // namespace keyledger

#endif
