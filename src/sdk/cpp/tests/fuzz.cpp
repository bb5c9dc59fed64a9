/**
 * Guarantee: no bytes that come from elsewhere end the program, keep it busy, or grant something that was not signed. The bytes are
 * mutated texts of the vectors, whose key ids stand for a key that has signed none of them. They are read by each function of the core,
 * as claims that are well signed, and by a client from its storage and as its answers.
 * Its arguments are the folder of the vectors, for how many seconds, and the seed of the random numbers.
 */
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <random>
#include <set>

#include "answer.hpp"
#include "cases.hpp"
#include "keyledger/license_key.hpp"
#include "machine.hpp"
#include "paseto.hpp"
#include "signature.hpp"
#include "take.hpp"

using namespace keyledger;

namespace {

constexpr std::int64_t now = 1793530000;
const bytes own_seed(32, '\x07');

void expect(bool is_so, const char* otherwise) {
  if (!is_so) throw std::logic_error(otherwise);
}

/** Texts inside the vectors that are worth mutating. */
void collect(const json& value, std::set<std::string>& into) {
  if (value.is_text() && value.text().size() > 20) into.insert(value.text());
  if (value.is_object() && value.members().size() < 40) into.insert(value.dump());
  for (const json& one : value.items()) collect(one, into);
  for (const auto& [name, one] : value.members()) collect(one, into);
}

class mutation {
 public:
  mutation(std::vector<std::string> seeds, unsigned seed) : seeds_(std::move(seeds)), random_(seed) {}

  void begin(unsigned seed) { random_.seed(seed); }
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  std::string text() {
    std::string made = seeds_[below(seeds_.size())];
    for (std::size_t times = below(6); times > 0; --times) mutate(made);
    return made;
  }

 private:
  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        return;
      case 1:
        text.erase(at, below(40));
        return;
      case 2:
        text.insert(at, tokens_[below(tokens_.size())]);
        return;
      case 3: {
        const std::string other = seeds_[below(seeds_.size())];
        text.insert(at, other, below(other.size()), below(80));
        return;
      }
      case 4:
        if (below(50) == 0) text.insert(at, 60000, "[{\"-1 "[below(6)]);
        return;
      default:
        for (std::size_t count = below(8); count > 0; --count) text.insert(at, 1, static_cast<char>(below(256)));
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
  const std::vector<std::string> tokens_ = {
      "null", "true", "1e999", "-0", "9007199254740993", "1e3", "\"\\ud800\"", "\"__proto__\":", "[[[[", "}}}}", "\xc4\xb0", "\xc3\x9f", "\xef\xbb\xbf",
      "v4.public.", "|", "0", "-1", "1.0", "\"\"", "2026-02-30T00:00:00Z", "9999-12-31T24:00:00Z", "{\"token\":", ",", ":", "-----", "\xed\xa0\x80", "="};
};

class fuzz {
 public:
  fuzz(const std::string& folder, unsigned seed) : from_(seeds_in(folder), seed) {
    const json all = read_cases(folder + "/leases2.json");
    at_ = place_in(all);
    const std::string stranger = base64_of(public_key_of(own_seed));
    for (const auto& [kid, key] : keys_in(all)) {
      published_.push_back(key);
      strange_[kid] = stranger;
    }
    own_ = {{to_hex(sha256(public_key_of(own_seed))).substr(0, 16), stranger}};
  }

  /** Reads a text with everything, and returns it for a report. @throws when something is wrong */
  void step(std::string& text) {
    text = from_.text();
    read_as(text, from_.below(4));
  }

  /** Reads a text in one of four ways. @throws when something is wrong */
  void read_as(const std::string& text, std::size_t way) {
    switch (way) {
      case 0:
        return read_as_signed(text);
      case 1:
        return read_by_client(text);
      default:
        return read(text);
    }
  }

  /** A text made of those of the vectors, the same for the same number. What is random later follows from it as well. */
  std::string made_with(unsigned seed) {
    from_.begin(seed);
    return from_.text();
  }

 private:
  static std::vector<std::string> seeds_in(const std::string& folder) {
    std::set<std::string> texts;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() == ".json") collect(read_cases(file.path().string()), texts);
    }
    return {texts.begin(), texts.end()};
  }

  static std::string base64_of(const bytes& data) {
    std::string text = to_base64url(data);
    for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    return text + std::string((4 - text.size() % 4) % 4, '=');
  }

  void read(const std::string& raw) {
    const std::string text = replaced(raw);
    const json value = parse_json(text).value_or(json(text));
    const std::string written = value.dump();
    expect(parse_json(written).value().dump() == written, "what was written is read as something else");
    facts held;
    held.install_id = "install";
    held.keys = strange_;
    const asked_license asked{"ACME-1", "ins_1", {}};
    for (const json& answer : {value, json::object({{"lease2", text}}), json::object({{"lease", value}}), json::object({{"refusal", value}})})
      expect(!is_new(take_proof(held, answer, asked, at_, now)), "a proof is taken");
    take_settings(held, value, at_, now, false);
    expect(!held.settings || !held.settings->known.trial_duration_days, "a trial length is taken");
    take_not_covered(held, value);
    take_trial(held, value);
    held.offline = new_offline_facts(std::string(64, '5'));
    expect(!is_new(take_carried(held, token_in(text), at_, {}, now)), "a file is taken");
    if (const auto stored = facts_from(text, at_, strange_); stored && is_safe_to_trust(raw)) {
      const state made = state_of(*stored, now, {false, {}, 0, 14});
      expect(!made.grants(), "a stored license grants something");
      to_json(made);
      expect(facts_from(text_of(*stored), at_, strange_).has_value(), "what was stored is not read again");
    }
    to_json(problem_of(answered{static_cast<int>(100 + from_.below(500)), body_in(raw), retry_after_ms(raw, now * 1000)}));
    for (const std::string& typed : {raw, text}) {
      is_minted_key(typed);
      license_key_hash(typed);
      is_shared(typed);
      is_key_of("k", json(typed));
      seconds_from(typed);
      expect(!verify_bytes(typed, typed.substr(0, 64), public_key_of(own_seed)), "it is signed");
    }
    const device_identity identity = identity_of(at_, {{raw}, {{"os", raw}}});
    expect(!identity.machine_hash || identity.machine_hash->size() == 43, "the hash of a machine has another length");
  }

  /** What a key has signed is read further: claims that make no sense must not be taken for sense. */
  void read_as_signed(const std::string& text) {
    const std::string kid = own_.begin()->first;
    for (const char* kind : {"lease2", "withdrawn1", "relay1"}) {
      const std::string token = sign_token(text, json::object({{"kid", kid}}).dump(), assertion_of(kind, at_), own_seed);
      facts held;
      held.keys = own_;
      held.offline = new_offline_facts(std::string(64, '5'));
      const std::string as = take_proof(held, json::object({{"lease2", token}}), {"FUZZ-1", "ins_fuzz", {}}, at_, now);
      expect(!is_new(as), "a lease of another license is taken");
      if (is_new(take_carried(held, token, at_, {}, now))) expect(kind == std::string("withdrawn1"), "a file that was not asked for is taken");
      to_json(state_of(held, now, {}));
      const std::string of_relay = sign_token(text, json::object({{"relay", token}}).dump(), assertion_of("lease2", at_), own_seed);
      read_token(of_relay, at_, own_);
    }
    const std::string footer = sign_token("{}", text, assertion_of("lease2", at_), own_seed);
    expect(!read_token(footer, at_, own_), "a token without claims is read");
  }

  /** Whether it contains none of the keys that have signed the vectors: with them, it would be no forgery. */
  bool is_safe_to_trust(const std::string& text) const {
    for (const auto& key : published_) {
      if (text.find(key) != std::string::npos) return false;
    }
    return true;
  }

  std::string foreign() {
    for (;;) {
      std::string text = from_.text();
      if (is_safe_to_trust(text)) return text;
    }
  }

  class answering : public transport {
   public:
    explicit answering(fuzz& of) : of_(of) {}
    std::optional<http_response> send(const http_request&) override {
      static constexpr int statuses[] = {200, 200, 200, 400, 403, 404, 422, 429, 500};
      if (of_.from_.below(8) == 0) return std::nullopt;
      http_response made{statuses[of_.from_.below(9)], of_.foreign(), {}};
      if (of_.from_.below(4) == 0) made.retry_after = of_.foreign();
      return made;
    }

   private:
    fuzz& of_;
  };

  class hurried_clock : public clock {
   public:
    std::int64_t ms = now * 1000;
    std::int64_t now_ms() override { return ms; }
    void sleep_ms(std::int64_t) override {}
  };

  void read_by_client(const std::string& text) {
    client_options options;
    options.tenant_id = at_.tenant_id;
    options.product_id = at_.product_id;
    options.base_url = "https://licenses.example.com";
    options.keys = strange_;
    options.storage = std::make_shared<memory_storage>();
    if (is_safe_to_trust(text)) options.storage->write(text);
    options.transport = std::make_shared<answering>(*this);
    const auto time = std::make_shared<hurried_clock>();
    options.clock = time;
    options.identity = [text] { return device_identity{text, {{"os", text}}}; };
    client app(std::move(options));
    bool is_told = false;
    app.on_notice([&is_told](const notice&) { is_told = true; });
    const auto check = [&] {
      app.announce();
      expect(!is_told, "a client tells of a license that it has never had");
      expect(!app.state().grants(), "a client grants something");
      expect(!app.has("pro") && !app.value("pro"), "a client has an entitlement");
    };
    app.start();
    check();
    app.activate(text);
    check();
    app.activate_in_browser([](const activation_page&) { throw std::logic_error("a page is shown that no server has named"); });
    app.validate();
    app.start_trial();
    check();
    app.create_offline_request(text);
    app.import_license(text);
    app.borrow(static_cast<double>(from_.below(100)));
    if (from_.below(32) == 0) expect(!app.refresh_after_purchase(), "a purchase is found that was not made");
    check();
    time->ms += 86400000;
    app.release();
    app.deactivate();
    app.close();
    check();
    expect(app.next_validation_ms() >= now * 1000, "the next validation is in the past");
  }

  mutation from_;
  place at_;
  key_map strange_;
  key_map own_;
  std::vector<std::string> published_;
};

}  // namespace

#if defined(KEYLEDGER_LIBFUZZER)

/** The folder of the vectors is in the environment, since libFuzzer has arguments of its own. */
static fuzz& reading() {
  static fuzz made(std::getenv("KEYLEDGER_VECTORS"), 1);
  return made;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/** Now and then it begins with a text of the vectors, so that no corpus has to be kept. */
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 8 != 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text = static_cast<char>(seed / 8 % 4) + reading().made_with(seed);
  return text.copy(reinterpret_cast<char*>(data), most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // So that the same bytes have the same random answers.
  reading().made_with(static_cast<unsigned>(size));
  reading().read_as({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] % 4);
  return 0;
}

#else

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "usage: fuzz <folder of the vectors> <seconds> <seed>\n";
    return 2;
  }
  using steady = std::chrono::steady_clock;
  fuzz reading(words[1], static_cast<unsigned>(std::stoul(words[3])));
  const auto end = steady::now() + std::chrono::seconds(std::stol(words[2]));
  long long texts = 0;
  for (; steady::now() < end; ++texts) {
    std::string text;
    std::string why;
    // The time of the processor: others may use it as well.
    const std::clock_t from = std::clock();
    try {
      reading.step(text);
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (std::clock() - from > 2 * CLOCKS_PER_SEC) why = "it takes longer than two seconds";
    if (!why.empty()) {
      std::cout << "FAILED with seed " << words[3] << ": " << why << '\n' << to_base64url(text) << '\n';
      return 1;
    }
  }
  std::cout << texts << " texts read, 0 failed\n";
  return texts > 0 ? 0 : 1;
}

#endif
