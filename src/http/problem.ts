import type { RefusalCode } from '../domain/refusal.ts'
import { customerRefusals } from './customer-refusals.ts'
import { meterRefusals } from './meter-refusals.ts'
import { personSeatRefusals } from './person-seat-refusals.ts'
import { portalRefusals } from './portal-refusals.ts'
import { relayRefusals } from './relay-refusals.ts'
import { resellerRefusals } from './reseller-refusals.ts'
import { isScimPath, scimErrorOf } from './scim-errors.ts'
import { signInRefusals } from './sign-in-refusals.ts'

/** The stable codes of the runtime interface's errors; the management interface shows only the message. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'product_not_found'
  | 'idempotency_mismatch'
  | 'idempotency_in_progress'
  | 'rate_limited'
  | 'unavailable'
  | 'internal'

/** A response other than success: what the caller may know, without internals. */
export class Problem extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly headers: Readonly<Record<string, string>>
  /** Further fields of the body, beside the error. */
  readonly details: object
  /** The stable code in the header `Error-Code`: the rule that refused, or the kind of the problem. */
  readonly errorCode: string

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    details: object = {},
    refusal?: RefusalCode,
  ) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.code = code
    this.headers = headers
    this.details = details
    this.errorCode = refusal ?? (code === 'invalid_request' ? kindOf(status) : code)
  }
}

/** Paths whose errors carry a stable code: `{"error": {"code", "message"}}`; all others `{"error": "message"}`. */
const runtimePath =
  /^\/v1\/licenses\/(?:activate|validate|heartbeat|deactivate|consume|hold|hold\/commit|hold\/release)(?:$|\?)/

/** The header with the stable code, for programs. The codes of the runtime interface are in its bodies. */
export const errorCodeHeaders = (url: string, { errorCode }: Problem): Record<string, string> =>
  runtimePath.test(url) ? {} : { 'error-code': errorCode }

/** The body of the answer to a request for this URL. */
export function bodyOf(url: string, problem: Problem): object {
  if (isScimPath(url)) return scimErrorOf(problem)
  const { code, message, details } = problem
  return { error: runtimePath.test(url) ? { code, message } : message, ...details }
}

export const invalid = (message: string): Problem => new Problem(400, 'invalid_request', message)

export const bodyNotJson = 'the body is not valid JSON; check its quotes, commas and brackets'
export const bodyOfOtherType = 'send the body as JSON, with the header Content-Type: application/json'
export const bodyTooLarge = 'the body is too large; send less at once'
export function notFound(what: string): Problem {
  const code = `${what.replaceAll(' ', '_')}_not_found`
  return new Problem(404, 'invalid_request', `${what} not found`, {}, {}, isRefusal(code) ? code : undefined)
}
export const noSuchPath = (): Problem => new Problem(404, 'invalid_request', 'this path does not exist')
export const unavailable = (message: string, retryAfterSeconds = 1): Problem =>
  new Problem(503, 'unavailable', message, { 'retry-after': String(retryAfterSeconds) })

/** The response for each refusal of the domain. A missing code does not compile. */
const refusals: Record<RefusalCode, [status: number, message: string]> = {
  tenant_exists: [409, 'a tenant with this id already exists; choose another tenantId'],
  tenant_id_reserved: [422, 'this tenant id is reserved; choose another'],
  tenant_not_found: [404, 'tenant not found'],
  tenant_suspended: [403, 'the tenant is suspended; it cannot issue or activate licenses'],
  tenant_closed: [403, 'the tenant is closed'],
  product_exists: [409, 'a product with this productId already exists; choose another'],
  product_not_found: [404, 'product not found'],
  product_limit_reached: [402, 'the plan allows no more products; upgrade to a higher plan'],
  key_type_exists: [409, 'a key type with this keyTypeId already exists; choose another'],
  key_type_not_found: [404, 'key type not found'],
  term_without_duration: [
    422,
    'a key type without a duration has no term that could start at the first activation; send duration too, or startsAt issue',
  ],
  quantity_not_allowed: [422, 'this key type is not sold in multiples; omit quantity'],
  quantity_too_large: [
    422,
    "quantity is greater than the key type's maxQuantity, or than a meter can hold; choose a smaller one",
  ],
  expiry_in_the_past: [422, 'expiresAt must be in the future'],
  license_exists: [409, 'this license already exists'],
  license_without_address: [409, 'the license has no email address to send the key to; set its email'],
  mails_off: [409, 'the mails of the product are off; turn them on: PUT /v1/products/{productId}/mail'],
  no_mail_server: [
    409,
    'this installation has no mail server, so the key would be shown on the page Mailbox; ask its operator to set KEYLEDGER_SMTP_URL',
  ],
  keys_not_kept: [
    409,
    'the product keeps no keys; send a new key (remint with sendKey), and turn on keyRecovery of the product for later ones',
  ],
  key_not_kept: [
    409,
    'the key of this license is not kept, since it was issued while keyRecovery was off or for another person; send a new key: remint with sendKey',
  ],
  key_mailed_recently: [429, 'the key was mailed less than 5 minutes ago; wait, then send it again'],
  license_not_found: [404, 'license not found'],
  license_revoked: [409, 'the license is revoked'],
  license_suspended: [409, 'the license is suspended; resume it first'],
  license_expired: [409, 'the license has expired'],
  license_reminted: [409, 'the license was reminted; use its new key'],
  license_perpetual: [409, 'the license is perpetual and cannot be renewed'],
  build_not_covered: [
    409,
    'the license does not cover this build of the app; use one that was built before its updates ended, or extend them',
  ],
  seat_lost: [
    409,
    'the device does not have this seat any more: it ran out, or was taken again; activate the device',
  ],
  seat_limit_reached: [409, 'not enough seats of the license are free; deactivate a device first'],
  ...personSeatRefusals,
  name_without_email: [
    422,
    'the name of a person is stored only together with an email address; send email too',
  ],
  license_refunded: [
    409,
    'the payment was refunded or lost in a dispute; winning the dispute reinstates the license',
  ],
  license_key_type_gone: [409, "the license's key type was deleted; mint a license of another key type"],
  license_not_imported: [409, 'the license was not imported; revoke it instead'],
  license_used: [409, 'the license has changed since it was imported; revoke it instead'],
  import_taken_back: [409, 'the import of the license was taken back; import it again'],
  device_not_found: [404, 'device not found'],
  seat_has_file: [
    409,
    'the device has a license file and may go on without a network until it ends; release it on the device, or wait for its end',
  ],
  files_off: [
    403,
    'the key type of this license allows no license files; set offlineFiles of the key type first',
  ],
  borrowing_off: [
    403,
    'seats of this license cannot be borrowed; set maxBorrowDays and maxBorrowed in floatingSeats of its key type, and issue a license of it',
  ],
  borrow_limit_reached: [
    409,
    'as many seats of the license are borrowed as floatingSeats.maxBorrowed allows; give one back on its device, or wait for its end',
  ],
  file_not_found: [404, 'no license file of this license was made for the device and key that signed'],
  file_too_long: [
    422,
    'days is more than the license allows; send at most offlineFiles.maxDays of its key type, or maxBorrowDays of its floatingSeats, or leave it out',
  ],
  file_request_unreadable: [
    422,
    'request is not a request that the app made for this product; send the whole text, from BEGIN to END, or make a new one',
  ],
  file_request_of_another_license: [
    422,
    'the request was made for another license key; open the license of that key, or enter the key of this license in the app',
  ],
  file_release_unreadable: [
    422,
    'release is not a release that the app made for this product; send the whole text, from BEGIN to END, or make a new one',
  ],
  file_limit_reached: [
    409,
    'the license has had as many license files within a year as its key type allows; raise perSeatPerYear of the key type, or wait',
  ],
  file_request_outdated: [
    409,
    'a newer request of the device was answered already; make a new request on the device',
  ],
  file_release_outdated: [
    409,
    'a newer license file was made for the device; import that one on the device, and release it',
  ],
  ...relayRefusals,
  license_key_unusable: [
    422,
    'licenseKey has the format of keys minted here but a wrong check character; check it for typos',
  ],
  license_key_too_short: [422, 'licenseKey is too short; it needs at least 6 letters or digits'],
  created_in_the_future: [422, 'createdAt must not be in the future'],
  not_ended_yet: [422, 'a license with the status expired or fallback needs an expiresAt in the past'],
  ends_before_it_begins: [422, 'expiresAt must be after createdAt'],
  more_devices_than_seats: [422, 'the license has more devices than seats'],
  plan_limit: [402, 'the plan allows no more active devices; upgrade to a higher plan'],
  ...meterRefusals,
  token_exists: [409, 'this token already exists'],
  token_not_found: [404, 'token not found'],
  token_revoked: [409, 'the token is already revoked'],
  member_exists: [409, 'a member with this email address already exists'],
  member_not_found: [404, 'member not found'],
  last_owner: [409, 'a tenant needs at least one owner; promote another member first'],
  login_settled: [409, 'this sign-in was already approved or denied'],
  ...signInRefusals,
  scope_not_grantable: [422, 'these scopes were not requested, or your role cannot grant them'],
  ...customerRefusals,
  ...resellerRefusals,
  name_too_common: [422, 'more people match this name than can be compared; send more of it'],
  sdk_key_lost: [409, 'the SDK key can no longer be shown; rotate it'],
  webhook_target_not_https: [422, 'url must begin with https://'],
  webhook_target_has_credentials: [
    422,
    'url must not contain a user name or a password; verify the signature instead',
  ],
  webhook_target_not_public: [422, 'url must resolve to public addresses only'],
  webhook_without_url: [422, 'url null ends deliveries; omit events and rotateSecret'],
  webhook_endpoint_not_found: [404, 'webhook endpoint not found'],
  webhook_endpoint_limit: [409, 'a workspace has at most 10 webhook endpoints; delete one first'],
  webhook_endpoint_unnamed: [
    422,
    'there is more than one webhook endpoint, or none; name the one to replay to in endpoint',
  ],
  webhook_replay_not_found: [404, 'replay not found'],
  webhook_replay_ended: [409, 'the replay has ended; start another'],
  webhook_replay_in_the_future: [400, 'from must not be in the future; choose a moment in the past'],
  license_of_another_customer: [409, 'the license belongs to another customer'],
  subject_not_found: [404, 'no person with this email address'],
  subject_is_member: [409, 'this person is a member of the workspace; remove the member first'],
  provider_not_found: [404, 'provider not found'],
  integration_connected: [409, 'the provider is already connected; disconnect it first'],
  provider_endpoint_exists: [
    409,
    'the provider has an endpoint with this address, which cannot be used: its secret is not shown again, or it lacks events; send replace: true to replace it',
  ],
  provider_without_endpoints: [
    422,
    'Gumroad has no endpoints that can be created; connect it, and enter the ping URL there',
  ],
  integration_not_connected: [
    409,
    'the provider is not connected; connect it first: POST /v1/integrations/{provider}/connect',
  ],
  mapping_taken: [409, 'one of these ids is already mapped to another product; remove that mapping first'],
  mapping_key_type_not_found: [422, 'the mapping names a key type that the product does not have'],
  mapping_price_not_found: [422, 'the mapping names a price that Stripe does not have or has archived'],
  key_type_without_price: [422, 'the key type has no Stripe price; map one and verify it'],
  pack_not_found: [404, 'pack not found'],
  pack_without_price: [
    422,
    'the pack is not the id of an active Stripe price that is paid once; map one as a credit pack',
  ],
  no_license_for_credit: [
    422,
    "no active license of the product has the pack's meter; name one in license_id, or send its customer_email; test mode takes only test licenses",
  ],
  platform_key_missing: [
    422,
    'Stripe is not set up on this installation; ask its operator to set KEYLEDGER_STRIPE_SECRET_KEY',
  ],
  platform_key_refused: [
    422,
    "Stripe rejects this installation's key; ask its operator to set a valid KEYLEDGER_STRIPE_SECRET_KEY",
  ],
  platform_secret: [
    422,
    'Stripe has one webhook secret for all accounts that are connected through the platform; ask the operator to set KEYLEDGER_STRIPE_WEBHOOK_SECRET',
  ],
  restricted_key_wanted: [
    422,
    'Stripe is connected with a restricted key, rk_live_… or rk_test_…; other keys allow too much',
  ],
  card_key_is_test: [
    409,
    'Stripe is connected with a test key, which sells only products in test mode; connect a live key',
  ],
  webhook_secret_wanted: [400, "body webhookSecret: required; copy it from the provider's webhook settings"],
  webhook_secret_unwanted: [400, 'Gumroad has no webhook secret; omit webhookSecret'],
  test_keys_wanted: [
    422,
    'test mode accepts test keys only; send publishableKey pk_test_… and secretKey sk_test_… or rk_test_…',
  ],
  test_keys_missing: [
    409,
    'the product is in test mode without Stripe test keys; set them with POST /v1/products/{productId}/test-mode',
  ],
  test_purchase_exists: [409, 'this test purchase already exists'],
  test_purchase_not_found: [404, 'test purchase not found'],
  test_purchase_without_provider: [
    409,
    'no provider sells this product; connect one (POST /v1/integrations/{provider}/connect) or turn on test mode (POST /v1/products/{productId}/test-mode)',
  ],
  sale_not_found: [404, 'sale not found'],
  sale_not_parked: [409, 'the sale already has its license; there is nothing to replay'],
  sale_still_parked: [409, 'the sale still cannot be licensed; fix the reason it gives, then replay it'],
  key_type_in_use: [409, 'live licenses reference this key type; revoke them or let them expire first'],
  value_without_entitlement: [
    422,
    'entitlementValues has a name that is neither in entitlements nor in fallbackEntitlements; add it there too, or leave out its value',
  ],
  override_values_differ: [
    422,
    'two overrides grant the same entitlement with different values, for the same products and until the same time; keep one of them',
  ],
  key_type_is_last: [409, 'a product needs at least one key type; add another first'],
  confirmation_exists: [409, 'this confirmation already exists'],
  confirmation_not_found: [404, 'confirmation not found'],
  confirmation_unknown: [403, 'this token has no confirmation with this id; send the request without one'],
  confirmation_mismatch: [
    403,
    'the confirmation is for a different request; repeat the original request exactly',
  ],
  confirmation_pending: [403, 'the confirmation is not approved yet; poll it until it is'],
  confirmation_approved: [409, 'the confirmation is already approved'],
  confirmation_denied: [403, 'the confirmation was denied'],
  confirmation_expired: [403, 'the confirmation has expired; send the request without it to get a new one'],
  confirmation_consumed: [
    403,
    'the confirmation was already used; send the request without it to get a new one',
  ],
  approval_by_another: [
    403,
    'you cannot approve a request made by you or by one of your tokens; ask another member of the workspace',
  ],
  approval_by_owner: [403, 'only an owner of the workspace can approve this; ask one'],
  approval_needs_two: [
    409,
    'only one member can approve requests, so another member cannot be required; add an owner, admin or approver first',
  ],
  test_mail_without_member: [
    422,
    'a test mail goes to the member behind the token, and this one belongs to no member; use a token that a member created',
  ],
  delivery_not_found: [404, 'delivery not found'],
  moment_in_the_future: [400, 'asOf must not be in the future; choose a moment in the past'],
  ...portalRefusals,
  seat_frees_off: [403, 'customers may not free seats of this product'],
  seat_frees_spent: [409, 'as many seats as the product allows were freed within 30 days'],
  notary_not_started: [409, 'the notary has not started yet; start a server with the role notary first'],
  notary_origin_used: [409, 'this ledger had a log with that origin already; choose another one'],
  notary_key_unknown: [404, 'the notary has no such key'],
  notary_key_is_last: [409, 'the only key of the notary cannot be retired; add another one first'],
}

const codes: Readonly<Record<number, ErrorCode>> = { 403: 'forbidden', 429: 'rate_limited' }

export function problemOfRefusal(code: RefusalCode, retryAfterSeconds: number | null = null): Problem {
  const [status, message] = refusals[code]
  const headers = retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }
  return new Problem(status, codes[status] ?? 'invalid_request', message, headers, {}, code)
}

const isRefusal = (code: string): code is RefusalCode => Object.hasOwn(refusals, code)

/** The codes of problems that no rule of the domain causes. */
const kinds = {
  validation_failed: [400, 'the request is not as described; the message names the field and what it may be'],
  unauthorized: [401, 'the credential is missing, invalid, expired or revoked; send a valid one'],
  forbidden: [
    403,
    'the credential may not do this; use one with the scope, or ask an owner of the workspace',
  ],
  not_found: [404, 'this does not exist, or belongs to another tenant; check the path and the ids in it'],
  method_not_allowed: [405, 'the path does not support this method; see Allow'],
  idempotency_in_progress: [409, 'the first request with this Idempotency-Key still runs; retry in a second'],
  conflict: [409, 'the present state does not allow this; read it again'],
  not_acceptable: [422, 'well-formed, but not acceptable; the message says why'],
  idempotency_mismatch: [422, 'the Idempotency-Key was used for another request; use a new one'],
  rate_limited: [429, 'too many requests; wait as many seconds as Retry-After says'],
  internal: [500, 'an internal error; quote the Request-Id to support'],
  unavailable: [
    503,
    'a store does not respond, or the server is overloaded; the message says whether a retry is safe',
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>

/** The kind of a problem whose status is all that is known of it. */
function kindOf(status: number): keyof typeof kinds {
  if (status === 404) return 'not_found'
  if (status === 405) return 'method_not_allowed'
  if (status === 409) return 'conflict'
  return status === 422 || status === 402 ? 'not_acceptable' : 'validation_failed'
}

/** Every code that `Error-Code` may hold, with its status and what it means. */
export const errorCodes = (): { code: string; status: number; message: string }[] =>
  Object.entries({ ...kinds, ...refusals }).map(([code, [status, message]]) => ({ code, status, message }))
