#ifndef KEYLEDGER_CLIENT_H
#define KEYLEDGER_CLIENT_H

/**
 * The client for programs in C, and for languages that call C. What each function does is said in `client.hpp`; here stands what is
 * different.
 *
 * - No exception leaves a function. One that returns a pointer returns NULL when memory is short, or when an argument that is needed is NULL.
 * - Text is UTF-8 and ends with a zero byte. Text that is passed in is copied. Text that a function returns as `char *` belongs to the
 *   caller, who frees it with `keyledger_text_free`; `const char *` belongs to the library.
 * - States, problems and outcomes are JSON, as the reference names them: an outcome is `{"ok":true,"state":{…}}`, or
 *   `{"ok":false,"problem":{"code":…,"message":…},"state":{…}}`.
 * - Each function may be called from any thread, but for `keyledger_client_free`, which is the last call of a client, and those of
 *   `keyledger_options`.
 * - A callback is called with its `context`, which has to last as long as the client. It must throw nothing.
 */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KEYLEDGER_API __attribute__((visibility("default")))
#else
#define KEYLEDGER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a client is made of. */
typedef struct keyledger_options keyledger_options;
/** The client of an app. */
typedef struct keyledger_client keyledger_client;

/** The version of the library. */
KEYLEDGER_API const char *keyledger_version(void);
/** Frees a text that the library has returned; NULL is no text. */
KEYLEDGER_API void keyledger_text_free(char *text);

/** @return 1 when a typed license key is one that keyledger has minted, and complete; else 0, also for one that a vendor has imported */
KEYLEDGER_API int keyledger_is_minted_key(const char *typed);
/** @return the one spelling of a license key */
KEYLEDGER_API char *keyledger_normalize_license_key(const char *typed);
/** @return the lower-case hex SHA-256 of the normalized key */
KEYLEDGER_API char *keyledger_license_key_hash(const char *typed);

/** What `keyledger_options_set_text` sets. */
typedef enum keyledger_text_option {
  KEYLEDGER_BASE_URL = 1,
  KEYLEDGER_SDK_KEY = 2,
  KEYLEDGER_DEVICE_NAME = 3,
  KEYLEDGER_APP_VERSION = 4,
  KEYLEDGER_APP_CHANNEL = 5,
  KEYLEDGER_PLATFORM = 6,
  KEYLEDGER_USER_ID = 7,
  /** The file that the client keeps its facts in. Without it and `keyledger_options_set_storage`, they last as long as the client. */
  KEYLEDGER_STORAGE_PATH = 8,
  /** In place of what this machine says of itself, which is the default; an empty text says nothing of it. */
  KEYLEDGER_MACHINE_HASH = 9,
  /** The address of a proxy for libcurl, in place of those of the environment. */
  KEYLEDGER_PROXY = 10
} keyledger_text_option;

/** What `keyledger_options_set_number` sets. */
typedef enum keyledger_number_option {
  KEYLEDGER_APP_BUILT_AT = 1,
  KEYLEDGER_DEFAULT_TRIAL_DAYS = 2,
  /** 1 or 0. */
  KEYLEDGER_ENFORCE_SETTINGS = 3,
  KEYLEDGER_REFRESH_SECONDS = 4,
  KEYLEDGER_TIMEOUT_MS = 5,
  KEYLEDGER_EXPIRING_DAYS = 6
} keyledger_number_option;

/** Begins the options of a client. The caller frees them, also after a client was made of them. */
KEYLEDGER_API keyledger_options *keyledger_options_new(const char *tenant_id, const char *product_id);
/** Frees options; NULL is none. */
KEYLEDGER_API void keyledger_options_free(keyledger_options *options);
/**
 * Each of these returns 1, or 0 for an option that is not known and for arguments that are NULL.
 * @param option a `keyledger_text_option`, or a `keyledger_number_option`
 */
KEYLEDGER_API int keyledger_options_set_text(keyledger_options *options, int option, const char *value);
/** As `keyledger_options_set_text`, for a number. */
KEYLEDGER_API int keyledger_options_set_number(keyledger_options *options, int option, int64_t value);
/** Adds a public key that the app ships. */
KEYLEDGER_API int keyledger_options_add_key(keyledger_options *options, const char *kid, const char *key);
/** Adds the address of a relay after those that were added before. */
KEYLEDGER_API int keyledger_options_add_relay(keyledger_options *options, const char *address);
/** Adds the hash of a component of the machine, in place of what it says of itself. */
KEYLEDGER_API int keyledger_options_add_component(keyledger_options *options, const char *name, const char *hash);

/** Where a callback of a storage puts what it has read. */
typedef struct keyledger_text_sink keyledger_text_sink;
/** Puts a text, which is copied. */
KEYLEDGER_API void keyledger_text_put(keyledger_text_sink *into, const char *text, size_t size);

/** Where an app keeps what it has to remember: one text. */
typedef struct keyledger_storage {
  void *context;
  /** Puts what was written last, or nothing. @return 0, or another number when it cannot be read */
  int (*read)(void *context, keyledger_text_sink *into);
  /** @return 0, or another number when it cannot be written. What was written before is then still there */
  int (*write)(void *context, const char *text, size_t size);
} keyledger_storage;
/** Keeps the license with callbacks, which are copied. @return 1, or 0 when one is missing */
KEYLEDGER_API int keyledger_options_set_storage(keyledger_options *options, const keyledger_storage *storage);

/**
 * A storage in the key store of the system; its functions are in the library `keyledger-client-key-store-c`. The caller frees it, after
 * the clients that use it.
 */
typedef struct keyledger_key_store keyledger_key_store;
/** @param tenant_id, product_id what the text is found by. They are needed */
KEYLEDGER_API keyledger_key_store *keyledger_key_store_new(const char *tenant_id, const char *product_id);
/** Frees a key store, and nothing that is kept in it; NULL is none. */
KEYLEDGER_API void keyledger_key_store_free(keyledger_key_store *store);
/** Keeps the license in a key store. @return 1, or 0 without one */
KEYLEDGER_API int keyledger_options_set_key_store(keyledger_options *options, keyledger_key_store *store);
/** @return why it could not be read or written last, and what to do, for the caller to free; NULL when that has not happened */
KEYLEDGER_API char *keyledger_key_store_error(keyledger_key_store *store);

/** A request to send; it lasts as long as the callback. */
typedef struct keyledger_request {
  const char *method;
  const char *url;
  size_t header_count;
  const char *const *header_names;
  const char *const *header_values;
  const char *body;
  size_t body_size;
  int64_t timeout_ms;
} keyledger_request;
/** Where a callback of a transport puts the answer. */
typedef struct keyledger_response keyledger_response;
/** Puts an answer, which is copied. @param retry_after the header `Retry-After`, or NULL */
KEYLEDGER_API void keyledger_response_put(keyledger_response *into, int status, const char *body, size_t size, const char *retry_after);

/** Sends requests. */
typedef struct keyledger_transport {
  void *context;
  /** Sends a request once; it is never called twice at the same time. @return 0, or another number when no answer came in time */
  int (*send)(void *context, const keyledger_request *request, keyledger_response *into);
} keyledger_transport;
/** Sends requests in place of libcurl. A library that was built without libcurl needs it. */
KEYLEDGER_API int keyledger_options_set_transport(keyledger_options *options, const keyledger_transport *transport);

/** The time, which tests replace. */
typedef struct keyledger_clock {
  void *context;
  /** @return milliseconds since 1970 */
  int64_t (*now_ms)(void *context);
  /** Waits between two attempts. */
  void (*sleep_ms)(void *context, int64_t ms);
} keyledger_clock;
/** Takes the time from callbacks, which are copied. @return 1, or 0 when one is missing */
KEYLEDGER_API int keyledger_options_set_clock(keyledger_options *options, const keyledger_clock *clock);

/**
 * Makes a client.
 * @param error where to put why there is none, for the caller to free; NULL when that is of no interest
 * @return NULL for options that are missing or are no ids
 */
KEYLEDGER_API keyledger_client *keyledger_client_new(const keyledger_options *options, char **error);
/** Ends a client; a floating seat is given back with `keyledger_client_close` before. NULL is none. */
KEYLEDGER_API void keyledger_client_free(keyledger_client *client);

/** Reads the storage, before anything is shown. @return the state */
KEYLEDGER_API char *keyledger_client_start(keyledger_client *client);
/** @return the state, as JSON */
KEYLEDGER_API char *keyledger_client_state(keyledger_client *client);
/** @return 1 when the present state grants the entitlement, else 0 */
KEYLEDGER_API int keyledger_client_has(keyledger_client *client, const char *entitlement);
/** @return the value of an entitlement as JSON: a number, a text or `true`; NULL when the present state does not grant it */
KEYLEDGER_API char *keyledger_client_value(keyledger_client *client, const char *entitlement);

/** Takes a seat with a license key that a person has typed. @return an outcome, as the next seven do */
KEYLEDGER_API char *keyledger_client_activate(keyledger_client *client, const char *license_key);

/** How a person is asked. */
typedef struct keyledger_browser {
  void *context;
  /** Opens the page in the browser of the person, and shows the code beside it. */
  void (*show)(void *context, const char *url, const char *code);
  /** Asked before each pause. @return 0 to go on, or another number to end the wait. NULL for a wait that ends with the code */
  int (*is_given_up)(void *context);
} keyledger_browser;
/** Takes a seat with a license that a person chooses in the vendor's portal. It blocks until they have. */
KEYLEDGER_API char *keyledger_client_activate_in_browser(keyledger_client *client, const keyledger_browser *browser);
/** Asks the server now. */
KEYLEDGER_API char *keyledger_client_validate(keyledger_client *client);
/** Gives the seat back and forgets the license. */
KEYLEDGER_API char *keyledger_client_deactivate(keyledger_client *client);
/** Starts the trial of this machine. */
KEYLEDGER_API char *keyledger_client_start_trial(keyledger_client *client);
/** Borrows the floating seat of this device for a time without a network. */
KEYLEDGER_API char *keyledger_client_borrow(keyledger_client *client, double seconds);
/** Takes a text that was carried here: the answer to the last request, or the list of withdrawn files. */
KEYLEDGER_API char *keyledger_client_import_license(keyledger_client *client, const char *text);
/** Gives a floating seat back for others to use; the license stays. */
KEYLEDGER_API char *keyledger_client_close(keyledger_client *client);

/** When the user comes back from a purchase. @return 1 when what the license grants has changed within half a minute, else 0 */
KEYLEDGER_API int keyledger_client_refresh_after_purchase(keyledger_client *client);

/** Asks for a license file. @return `{"text":…,"token":…}` to carry to the vendor, or `{"error":…}` when the storage cannot be written */
KEYLEDGER_API char *keyledger_client_create_offline_request(keyledger_client *client, const char *license_key);
/** Gives the license file and its seat back. @return likewise; `null` without a file */
KEYLEDGER_API char *keyledger_client_release(keyledger_client *client);

/** When to validate next, in milliseconds since 1970. */
KEYLEDGER_API int64_t keyledger_client_next_validation_ms(const keyledger_client *client);

/** @param told a state or a notice as JSON, for as long as the callback takes. It makes no call that needs the server */
typedef void (*keyledger_listener)(void *context, const char *told);
/** Calls the listener with each new state. @return the number for `keyledger_client_unsubscribe`; 0 when nothing was subscribed */
KEYLEDGER_API uint64_t keyledger_client_subscribe(keyledger_client *client, keyledger_listener listener, void *context);
/** Calls the listener with what happens to the license and concerns the user. @return likewise */
KEYLEDGER_API uint64_t keyledger_client_on_notice(keyledger_client *client, keyledger_listener listener, void *context);
/** Calls a listener no more. */
KEYLEDGER_API void keyledger_client_unsubscribe(keyledger_client *client, uint64_t number);
/** Calls the listeners when the state has changed by itself, as when a lease ends, and when an end has come near. */
KEYLEDGER_API void keyledger_client_announce(keyledger_client *client);

#ifdef __cplusplus
}
#endif

#endif
