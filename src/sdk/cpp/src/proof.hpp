#ifndef KEYLEDGER_PROOF_HPP
#define KEYLEDGER_PROOF_HPP

#include "keyledger/state.hpp"
#include "keyset.hpp"

namespace keyledger {

/** The machine that a lease was made for, or this one, as the app names it. */
struct leased_device {
  std::optional<std::string> machine_hash;
  std::map<std::string, std::string> components;
};

/** By the machine hash, else by more than half of the components that both sides have, and at least two. */
bool is_same_machine(const leased_device& one, const leased_device& other);
/** Whether both sides say enough to be told apart, and are not the same. */
bool is_another_machine(const leased_device& one, const leased_device& other);

/** Of a license file: its id, the nonce of the request that it answers, and the fence of the seat that it borrows. */
struct file_claims {
  std::string id;
  std::string nonce;
  std::optional<double> fence;
};

/** What the server has signed about the license on a device: a lease in either form, a license file, or a refusal. */
struct proof {
  enum class kind { lease, token, refusal };
  kind is = kind::lease;
  std::string kid;
  std::string license_key_hash;
  std::string instance_id;
  std::int64_t issued_at = 0;
  /** Of a refusal. */
  std::string reason;
  /** Of a lease or a file: `active`, `fallback`, `expired` or `suspended`. */
  std::string status;
  std::int64_t not_before = 0;
  std::int64_t expires_at = 0;
  std::vector<std::string> entitlements;
  std::map<std::string, entitlement_value> values;
  /** Of a token. */
  std::optional<leased_device> device;
  std::optional<std::int64_t> license_expires_at;
  std::optional<std::int64_t> updates_until;
  std::optional<holder> issued_to;
  std::int64_t serial = 0;
  std::optional<file_claims> file;
  std::optional<std::string> relay;
  /** What is stored, and verified again when it is read. */
  json stored;

  bool is_refusal() const { return is == kind::refusal; }
  /** Whether it grants something at some time. */
  bool is_granting() const { return status == "active" || status == "fallback"; }
};

/** Verifies a lease of the first version. @param now Unix seconds; after its end it is `over` */
found<proof> verify_lease(const json& value, const place& at, const holder_of& expected, const key_map& keys, std::int64_t now);
/** Verifies a refusal. */
found<proof> verify_refusal(const json& value, const place& at, const holder_of& expected, const key_map& keys);
/** Verifies only who signed a lease of the second version or a license file, and for which product. */
found<proof> read_token(const std::string& token, const place& at, const key_map& keys);
/** Verifies a lease of the second version for a holder, a machine and a time. */
found<proof> verify_lease2(const std::string& token, const place& at, const holder_of& expected, const std::optional<leased_device>& device,
                           const key_map& keys, std::int64_t now);

/**
 * Verifies a lease in either form, or a refusal. Whether a lease is over is decided with the state. A license file is none.
 * @param value a token; a lease or refusal as the server sends it; or any of them as it was stored
 */
found<proof> verify_proof(const json& value, const place& at, const holder_of& expected, const key_map& keys);

/** The settings of a product; an absent trial length was never configured, and 0 means that trials are off. */
struct settings {
  bool free_tier_enabled = false;
  std::optional<std::int64_t> trial_duration_days;
};

/** Verifies the settings in an answer. @param enforce refuses unsigned settings */
found<settings> verify_settings(const json& answer, const place& at, const key_map& keys, std::int64_t now, bool enforce);

/** A list of license files that must not be used any more. */
struct withdrawn_list {
  std::string token;
  std::vector<std::string> files;
  double serial = 0;
  std::int64_t issued_at = 0;
};

/** Reads a list of withdrawn files; nothing for what is none, or was not signed for this product. */
std::optional<withdrawn_list> read_withdrawn(const std::string& token, const place& at, const key_map& keys);

}  // namespace keyledger

#endif
