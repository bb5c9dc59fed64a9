#ifndef KEYLEDGER_CLIENT_HPP
#define KEYLEDGER_CLIENT_HPP

#include "keyledger/notice.hpp"
#include "keyledger/ports.hpp"
#include "keyledger/problem.hpp"
#include "keyledger/state.hpp"

namespace keyledger {

/** What a client is made of. Only `tenant_id`, `product_id`, `storage` and either `base_url` or `keys` are needed. */
struct client_options {
  /** The vendor, as the license server names it. */
  std::string tenant_id;
  /** The product, likewise. */
  std::string product_id;
  /** The address of the license server, `https://licenses.example.com`. Without it, and without relays, nothing is sent. */
  std::string base_url;
  /** It identifies the app and is no secret. */
  std::string sdk_key;
  /** The public keys that the app ships, in base64 by `kid`, so that it does not have to fetch them first. */
  std::map<std::string, std::string> keys;
  /** Where the license, and the device's own key for license files, are kept: `file_storage`, or `key_store_storage`. */
  std::shared_ptr<keyledger::storage> storage;
  /** Needed with `base_url` or relays: `curl_transport`, or the app's own. */
  std::shared_ptr<keyledger::transport> transport;
  /** The time, which tests replace. */
  std::shared_ptr<keyledger::clock> clock = system_clock();
  /** How the vendor and the customer see this device, such as its host name. */
  std::optional<std::string> device_name;
  /** For the vendor to see, as `device_name`. */
  std::optional<std::string> app_version;
  /** When the app was built, in Unix seconds. A license covers builds until its updates end. */
  std::optional<std::int64_t> app_built_at;
  /** Where the app gets its releases from, such as `stable`. */
  std::optional<std::string> app_channel;
  /** `macos`, `windows`, `linux` … */
  std::optional<std::string> platform;
  /**
   * Says what the device is; asked at the start and before each call. What it said before stays while it throws. Without it a device is
   * known by what is in its storage.
   */
  std::function<device_identity()> identity;
  /** Addresses of relays in the customer's network, in order, which give seats before the vendor's server is asked. */
  std::function<std::vector<std::string>()> relays;
  /** Who uses the app, by a stable id: for licenses whose seats are of users. */
  std::optional<std::string> user_id;
  /** The length of a trial where the server has never named one. */
  std::optional<std::int64_t> default_trial_days;
  /** Refuses unsigned settings: set it for a product that has a trial length. */
  bool enforce_settings = false;
  /** How often a running app validates. A lease that ends sooner is renewed at half of its time. */
  std::int64_t refresh_seconds = 43200;
  /** How many days before its end a license is told to end soon. */
  std::int64_t expiring_days = 7;
  /** How long one request may take. */
  std::int64_t timeout_ms = 15000;
  /** Called when the storage cannot be read or written. */
  std::function<void(const std::string& message)> on_storage_error;
  /** From 0 up to, and without, 1: spreads attempts and pauses. */
  std::function<double()> random;
};

/** What a call has led to. The state is the present one in both cases. */
struct outcome {
  /** Absent when it worked. */
  std::optional<keyledger::problem> problem;
  keyledger::state state;
  explicit operator bool() const noexcept { return !problem; }
};

/** A text to carry to the vendor; `token` is the same without lines, for a QR code. */
struct carried {
  std::string text;
  std::string token;
};

/** A page where a person chooses a license for this app. */
struct activation_page {
  /** To open in their browser; `http://` or `https://`. */
  std::string url;
  /** To show in the app, so that they can compare it with the page. */
  std::string code;
};

/**
 * The client of an app. It starts no thread: calls that need the server block until it has answered, at most three attempts, and
 * may be made from any thread; one request is under way at a time. `state`, `has` and `value` never wait for a request.
 * Calls that return an `outcome` throw nothing but what the transport of an app throws. From `examples/app.cpp`, which is a whole program:
 *
 *     keyledger::client client(std::move(options));
 *
 *     client.start();
 *     const auto found = count > 2 ? client.activate(words[2]) : client.validate();
 *     if (found.problem) std::cerr << keyledger::name_of(found.problem->code) << ": " << found.problem->message << '\n';
 */
class client {
 public:
  /** @throws std::invalid_argument for missing options, and for ids that no address can contain */
  explicit client(client_options options);
  ~client();
  client(client&& other) noexcept;
  client& operator=(client&& other) noexcept;
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /** Reads the storage. Call it once, before anything is shown. @return the state that was stored */
  keyledger::state start();
  /** The present state; it may change by itself as time passes. */
  keyledger::state state() const;
  /** @return whether the present state grants an entitlement */
  bool has(const std::string& entitlement) const;
  /** @return its value: a number or text, or `true` when it has none; nothing when the present state does not grant it */
  std::optional<entitlement_value> value(const std::string& entitlement) const;

  /**
   * Takes a seat with a license key that a person has typed. The same device never takes a second one.
   * @return without a problem when the license is active here; else why it is not, and the state of before
   */
  outcome activate(const std::string& license_key);
  /**
   * Takes a seat with a license that a person chooses in the vendor's portal, without typing a key. It blocks until they have.
   * @param show opens the page in their browser, and shows the code beside it. What it throws ends the call
   * @param is_given_up asked before each pause, and ends the wait when it says so; else that ends with the code
   * @return with `refused` when no license was chosen
   */
  outcome activate_in_browser(const std::function<void(const activation_page&)>& show, const std::function<bool()>& is_given_up = {});
  /** Asks the server now. Calls at the same time share one request. @return without a problem when the server has answered for the license */
  outcome validate();
  /**
   * Call it when the user comes back from the page of a purchase: it validates every 3 seconds for half a minute, until what the license
   * grants is another than before. It blocks until then.
   * @return whether it is
   */
  bool refresh_after_purchase();
  /** Gives the seat back and forgets the license. @return with a problem when the server was not reached; the license then stays */
  outcome deactivate();
  /** Starts the trial of this machine, also without a connection when its length is known. @return with `no_trial` when there is none */
  outcome start_trial();
  /** Borrows the floating seat of this device for a time without a network. @param seconds for how long; it may be less */
  outcome borrow(double seconds);
  /**
   * Asks for a license file, the first or the next one, with a license key that a person has typed.
   * @return a text to carry to the vendor
   * @throws std::runtime_error when the storage cannot be written
   */
  carried create_offline_request(const std::string& license_key);
  /** Takes a text that was carried here: the answer to the last request, or the list of withdrawn files. @return with a problem when it is not taken */
  outcome import_license(const std::string& text);
  /**
   * Gives the license file and its seat back: the text frees the seat at the vendor.
   * @return nothing without a file; the same text again for a file that was given back before
   * @throws std::runtime_error when the storage cannot be written
   */
  std::optional<carried> release();
  /** Gives a floating seat back for others to use; the license stays. Call it when the app ends. */
  outcome close();

  /**
   * When to validate next, in milliseconds since 1970 by the clock of the client: at once after `start`, then every 12 hours, and
   * at half of a lease that ends sooner; after failures in growing pauses. An app with a loop of its own compares it with its clock.
   */
  std::int64_t next_validation_ms() const;

  /**
   * Calls the listener with each new state, on the thread that has brought it about, which still waits for its call: a listener makes no call
   * that needs the server. What it throws is dropped. @return the number for `unsubscribe`
   */
  std::uint64_t subscribe(std::function<void(const keyledger::state&)> listener);
  /**
   * Calls the listener with what happens to the license and concerns the user, when the client sees it; as `subscribe` does.
   * @return the number for `unsubscribe`
   */
  std::uint64_t on_notice(std::function<void(const notice&)> listener);
  /** Calls a listener no more. @param number what `subscribe` or `on_notice` has returned; another is ignored */
  void unsubscribe(std::uint64_t number);
  /** Calls the listeners when the state has changed by itself, as when a lease ends, and when an end has come near. */
  void announce();

 private:
  class parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace keyledger

#endif
