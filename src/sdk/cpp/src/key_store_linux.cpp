#include <algorithm>
#include <random>
#include <stdexcept>

#include "keyledger/key_store.hpp"
#include "program.hpp"

namespace keyledger {
namespace {

/** A person may have to type the password of the key ring. */
constexpr std::chrono::milliseconds limit(60000);
/** `secret-tool` cuts off what is longer than 8191 bytes, and calls that a success. */
constexpr std::size_t longest = 8000;

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error("the license cannot be kept in the Secret Service: " + why +
                           ". Start and unlock the key ring of the desktop, such as GNOME Keyring or KWallet, or keep the license in a file");
}

program_result run(std::vector<std::string> words, const std::string& in) {
  words.insert(words.begin(), "secret-tool");
  auto made = run_program(std::move(words), in, limit);
  if (!made)
    throw std::runtime_error(
        "the program secret-tool is missing: install it (Debian and Ubuntu: libsecret-tools, others: libsecret), or keep the license in a file");
  while (!made->err.empty() && made->err.back() == '\n') made->err.pop_back();
  return *made;
}

/**
 * The items of one product. A text that fits is in the item `head`. Of a longer one there are parts, in one of two slots, and `head` names
 * the slot: it is written last, so that the former text stays whole until then.
 */
class items {
 public:
  items(const std::string& tenant_id, const std::string& product_id) : tenant_id_(tenant_id), product_id_(product_id) {}

  std::optional<std::string> find(const std::string& part) const {
    const program_result made = run(words({"lookup"}, part), {});
    if (made.code == 0) return made.out;
    if (made.code != 1 || !made.err.empty()) fail(made.err.empty() ? "secret-tool has failed" : made.err);
    return std::nullopt;
  }

  /** @throws std::runtime_error when it is in a key ring that is locked, of which `find` sees nothing */
  std::optional<std::string> head() const {
    auto found = find("head");
    if (found) return found;
    const program_result made = run(words({"search"}, "head"), {});
    if (made.code != 0) fail(made.err.empty() ? "secret-tool has failed" : made.err);
    if (!made.out.empty()) fail("the key ring is locked");
    return std::nullopt;
  }

  void store(const std::string& part, const std::string& text) const {
    const program_result made = run(words({"store", "--label=License of " + product_id_}, part), text);
    if (made.code != 0 || !made.err.empty()) fail(made.err.empty() ? "secret-tool has failed" : made.err);
  }

 private:
  std::vector<std::string> words(std::vector<std::string> made, const std::string& part) const {
    for (const std::string& word : {std::string("--"), std::string("service"), std::string("keyledger"), std::string("tenant"), tenant_id_,
                                    std::string("product"), product_id_, std::string("part"), part})
      made.push_back(word);
    return made;
  }

  const std::string& tenant_id_;
  const std::string& product_id_;
};

/** What `head` says of a text in parts: `@`, the slot, a number by which its parts are known, and how many there are. */
struct division {
  char slot = 'a';
  std::string serial;
  std::size_t count = 0;

  std::string part(std::size_t number) const { return slot + std::to_string(number); }
  std::string text() const { return std::string("@") + slot + serial + ' ' + std::to_string(count); }
};

constexpr std::size_t serial_size = 8;

std::string new_serial() {
  std::random_device random;
  std::string made;
  while (made.size() < serial_size) made += "0123456789abcdef"[random() & 15];
  return made;
}

std::optional<division> division_in(const std::string& head) {
  const std::size_t begin = 2 + serial_size + 1;
  if (head.size() <= begin || head[0] != '@' || (head[1] != 'a' && head[1] != 'b') || head.size() > begin + 4) return std::nullopt;
  if (head.find_first_not_of("0123456789", begin) != std::string::npos) return std::nullopt;
  return division{head[1], head.substr(2, serial_size), static_cast<std::size_t>(std::stoul(head.substr(begin)))};
}

/** The whole text; nothing when another process is writing it at this moment. */
std::optional<std::string> joined(const items& all, const division& of) {
  std::string text;
  for (std::size_t number = 0; number < of.count; ++number) {
    const auto part = all.find(of.part(number));
    if (!part || part->compare(0, serial_size, of.serial) != 0) return std::nullopt;
    text.append(*part, serial_size);
  }
  return text;
}

/** The parts of a text, none of which ends within a character. */
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> made;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t to = std::min(text.size(), at + longest);
    while (to < text.size() && to > at + 1 && (static_cast<unsigned char>(text[to]) & 0xc0) == 0x80) --to;
    made.push_back(text.substr(at, to - at));
    at = to;
  }
  return made;
}

}  // namespace

key_store_storage::key_store_storage(std::string tenant_id, std::string product_id)
    : tenant_id_(std::move(tenant_id)), product_id_(std::move(product_id)) {}

std::optional<std::string> key_store_storage::read() {
  const items all(tenant_id_, product_id_);
  for (int attempts = 3; attempts > 0; --attempts) {
    const auto head = all.head();
    if (!head) return std::nullopt;
    if (head->compare(0, 1, "=") == 0) return head->substr(1);
    const auto of = division_in(*head);
    if (!of) break;
    if (auto text = joined(all, *of)) return text;
  }
  fail("a part of it is missing there");
}

void key_store_storage::write(const std::string& text) {
  const items all(tenant_id_, product_id_);
  if (text.size() <= longest) return all.store("head", '=' + text);
  const auto before = division_in(all.head().value_or(""));
  const auto parts = parts_of(text);
  const division next{before && before->slot == 'a' ? 'b' : 'a', new_serial(), parts.size()};
  for (std::size_t number = 0; number < parts.size(); ++number) all.store(next.part(number), next.serial + parts[number]);
  all.store("head", next.text());
}

}  // namespace keyledger
