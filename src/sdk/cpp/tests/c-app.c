/*
 * A program in C: it checks that arguments which are missing and parts that fail end no call, and then goes through the life of a license
 * at a server, with a storage of its own, through a proxy. It prints each answer.
 * Its arguments are an address, a tenant id, a product id, an SDK key, a license key, the time in milliseconds, and the address of a proxy.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keyledger/client.h"

static void fail(const char *why) {
  printf("FAILED: %s\n", why);
  exit(1);
}
static void expect(int is_so, const char *otherwise) {
  if (!is_so) fail(otherwise);
}

struct memory {
  char *text;
  size_t size;
  int is_broken;
};
static int read_memory(void *context, keyledger_text_sink *into) {
  struct memory *from = context;
  if (from->text != NULL) keyledger_text_put(into, from->text, from->size);
  return from->is_broken;
}
static int write_memory(void *context, const char *text, size_t size) {
  struct memory *to = context;
  if (to->is_broken) return 1;
  free(to->text);
  to->text = malloc(size);
  if (to->text == NULL) return 1;
  memcpy(to->text, text, size);
  to->size = size;
  return 0;
}

static int64_t told_time(void *context) { return *(int64_t *)context; }
static void no_pause(void *context, int64_t ms) {
  (void)context;
  (void)ms;
}

static int send_settings(void *context, const keyledger_request *request, keyledger_response *into) {
  const char *body = "{\"free_tier_enabled\":true}";
  expect(strcmp(request->method, "GET") == 0 && request->body_size == 0 && request->timeout_ms == 7000, "the request is another");
  expect(strcmp(request->url, "https://licenses.example.com/acme/editor/config") == 0, "the address is another");
  expect(request->header_count == 1 && strcmp(request->header_values[0], "kl_sdk_1") == 0, "the headers are others");
  ++*(int *)context;
  keyledger_response_put(into, 200, body, strlen(body), NULL);
  return 0;
}
static void count_states(void *context, const char *state) {
  expect(state[0] == '{', "a listener gets no state");
  ++*(int *)context;
}

/* Where there is no program that reaches a key store, the app is told what to install. */
static void check_key_store(void) {
  keyledger_key_store *store = keyledger_key_store_new("acme", "editor");
  keyledger_options *options = keyledger_options_new("acme", "editor");
  expect(keyledger_key_store_new(NULL, "editor") == NULL && keyledger_key_store_error(NULL) == NULL, "NULL is taken for a key store");
  expect(!keyledger_options_set_key_store(options, NULL), "no key store is taken for one");
  expect(keyledger_options_set_key_store(options, store), "a key store is refused");
  expect(keyledger_key_store_error(store) == NULL, "a key store has failed before it was used");
  expect(setenv("PATH", "/nowhere", 1) == 0, "the PATH cannot be set");
  keyledger_client *client = keyledger_client_new(options, NULL);
  keyledger_options_free(options);
  keyledger_text_free(keyledger_client_start(client));
  char *error = keyledger_key_store_error(store);
  expect(error != NULL && strstr(error, "secret-tool is missing: install it") != NULL, "it is not said what to install");
  keyledger_text_free(error);
  keyledger_client_free(client);
  keyledger_key_store_free(store);
}

static void check_license_keys(const char *minted) {
  char *normalized = keyledger_normalize_license_key(minted);
  char *hash = keyledger_license_key_hash(minted);
  expect(keyledger_is_minted_key(minted) && keyledger_is_minted_key(normalized), "a key that was minted is not known");
  expect(strchr(normalized, '-') == NULL && strlen(hash) == 64, "a key is not normalized");
  keyledger_text_free(normalized);
  keyledger_text_free(hash);
  expect(!keyledger_is_minted_key("ACME-1") && !keyledger_is_minted_key(NULL), "a key is taken for one that was minted");
  expect(keyledger_normalize_license_key(NULL) == NULL && keyledger_license_key_hash(NULL) == NULL, "NULL is taken for a key");
}

static void show_notice(void *context, const char *told) {
  (void)context;
  puts(told);
}

static void check_without_server(void) {
  struct memory storage = {NULL, 0, 1};
  keyledger_storage store = {&storage, read_memory, write_memory};
  int sent = 0;
  keyledger_transport transport = {&sent, send_settings};
  int states = 0;
  char *error = NULL;
  char *text = NULL;
  keyledger_options *options = keyledger_options_new("acme", "..");
  expect(keyledger_client_new(options, &error) == NULL && error != NULL, "a client is made of what is no id");
  keyledger_text_free(error);
  keyledger_options_free(options);
  expect(keyledger_options_new(NULL, "editor") == NULL && keyledger_client_new(NULL, NULL) == NULL, "NULL is taken for options");

  options = keyledger_options_new("acme", "editor");
  expect(keyledger_options_set_text(options, KEYLEDGER_BASE_URL, "https://licenses.example.com"), "an address is refused");
  expect(keyledger_options_set_text(options, KEYLEDGER_SDK_KEY, "kl_sdk_1"), "an SDK key is refused");
  expect(keyledger_options_set_number(options, KEYLEDGER_TIMEOUT_MS, 7000), "a time limit is refused");
  expect(keyledger_options_set_number(options, KEYLEDGER_EXPIRING_DAYS, 3), "a number of days is refused");
  expect(!keyledger_options_set_text(options, KEYLEDGER_PLATFORM, NULL), "NULL is taken for a text");
  expect(!keyledger_options_set_text(options, 77, "x"), "an option is taken that is none");
  expect(keyledger_options_set_storage(options, &store) && keyledger_options_set_transport(options, &transport), "a callback is refused");
  keyledger_client *client = keyledger_client_new(options, NULL);
  keyledger_options_free(options);
  expect(client != NULL, "a client is not made");
  expect(keyledger_client_subscribe(client, count_states, &states) != 0, "a listener is refused");

  text = keyledger_client_validate(client);
  expect(strstr(text, "\"ok\":true") != NULL && strstr(text, "\"status\":\"free\"") != NULL, "settings are not taken");
  keyledger_text_free(text);
  expect(sent == 1 && states > 0, "a callback is not called");
  expect(keyledger_client_on_notice(client, NULL, NULL) == 0 && keyledger_client_on_notice(NULL, count_states, NULL) == 0, "no listener is taken for one");
  text = keyledger_client_create_offline_request(client, "ACME-1");
  expect(strstr(text, "\"error\":") != NULL, "a request is given out that is not stored");
  keyledger_text_free(text);
  expect(keyledger_client_activate_in_browser(client, NULL) == NULL, "NULL is taken for a browser");
  expect(keyledger_client_activate(client, NULL) == NULL && keyledger_client_activate(NULL, "x") == NULL, "NULL is taken for a text");
  expect(!keyledger_client_has(client, NULL) && keyledger_client_value(client, "pro") == NULL, "something is granted");
  expect(keyledger_client_next_validation_ms(client) > 0, "there is no next validation");
  keyledger_client_free(client);
  keyledger_client_free(NULL);
  keyledger_text_free(NULL);
}

static void show(char *text) {
  expect(text != NULL, "there is no answer");
  puts(text);
  keyledger_text_free(text);
}

int main(int count, char **words) {
  struct memory storage = {NULL, 0, 0};
  keyledger_storage store = {&storage, read_memory, write_memory};
  int64_t now = 0;
  keyledger_clock clock = {&now, told_time, no_pause};
  char *error = NULL;
  if (count != 8) return 2;
  check_without_server();
  check_license_keys(words[5]);
  check_key_store();

  now = strtoll(words[6], NULL, 10);
  keyledger_options *options = keyledger_options_new(words[2], words[3]);
  keyledger_options_set_text(options, KEYLEDGER_BASE_URL, words[1]);
  keyledger_options_set_text(options, KEYLEDGER_SDK_KEY, words[4]);
  keyledger_options_set_text(options, KEYLEDGER_PROXY, words[7]);
  keyledger_options_set_text(options, KEYLEDGER_MACHINE_HASH, "hash-of-the-machine-c");
  keyledger_options_set_storage(options, &store);
  keyledger_options_set_clock(options, &clock);
  keyledger_client *client = keyledger_client_new(options, &error);
  if (client == NULL) fail(error);
  expect(keyledger_client_on_notice(client, show_notice, NULL) != 0, "a listener is refused");
  show(keyledger_client_start(client));
  show(keyledger_client_activate(client, words[5]));
  printf("%d\n", keyledger_client_refresh_after_purchase(client));
  show(keyledger_client_value(client, "pro"));
  keyledger_client_free(client);

  client = keyledger_client_new(options, &error);
  keyledger_options_free(options);
  show(keyledger_client_start(client));
  printf("[%d,%d]\n", keyledger_client_has(client, "pro"), keyledger_client_has(client, "another"));
  show(keyledger_client_release(client));
  show(keyledger_client_deactivate(client));
  show(keyledger_client_state(client));
  keyledger_client_free(client);
  free(storage.text);
  return 0;
}
