import type { RefusalCode } from '../domain/refusal.ts'

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

/** An answer other than success: what the caller is told, and nothing of how it came about. */
export class Problem extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly headers: Readonly<Record<string, string>>
  /** What stands in the body beside the error. */
  readonly details: object

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    details: object = {},
  ) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.code = code
    this.headers = headers
    this.details = details
  }
}

export const invalid = (message: string): Problem => new Problem(400, 'invalid_request', message)
export const notFound = (what: string): Problem => new Problem(404, 'invalid_request', `${what} not found`)
export const noSuchPath = (): Problem => new Problem(404, 'invalid_request', 'no such path')
export const unavailable = (message: string, retryAfterSeconds = 1): Problem =>
  new Problem(503, 'unavailable', message, { 'retry-after': String(retryAfterSeconds) })

/** @param waitMs until it is worth trying again */
export const rateLimited = (waitMs: number): Problem => {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const message = `too many requests; try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  return new Problem(429, 'rate_limited', message, { 'retry-after': String(seconds) })
}

/** Every refusal of the domain as an answer. A code without one does not compile. */
const refusals: Record<RefusalCode, [status: number, message: string]> = {
  tenant_exists: [409, 'a tenant with this id exists already; choose another tenantId'],
  tenant_id_reserved: [422, 'this tenant id is reserved for the service itself; choose another'],
  tenant_not_found: [404, 'tenant not found'],
  tenant_suspended: [403, 'the tenant is suspended: licenses are neither issued nor activated'],
  tenant_closed: [403, 'the tenant is closed'],
  product_exists: [409, 'a product with this productId exists already; choose another'],
  product_not_found: [404, 'product not found'],
  product_limit_reached: [402, 'the plan allows no more products; move to a higher plan'],
  key_type_exists: [409, 'a key type with this keyTypeId exists already; choose another'],
  key_type_not_found: [404, 'key type not found'],
  quantity_not_allowed: [422, 'this key type is not sold in multiples; leave quantity out'],
  quantity_too_large: [422, "quantity is above what the key type allows; see the key type's maxQuantity"],
  expiry_in_the_past: [422, 'expiresAt must lie in the future'],
  license_exists: [409, 'this license exists already'],
  license_not_found: [404, 'license not found'],
  license_revoked: [409, 'the license is revoked'],
  license_expired: [409, 'the license has expired'],
  license_reminted: [409, 'the license has got a new key'],
  license_perpetual: [409, 'the license is perpetual and cannot be renewed'],
  seat_limit_reached: [409, 'all seats of the license are taken; deactivate a device first'],
  license_refunded: [
    409,
    'the money for the license went back; it is reinstated when a dispute over it is won',
  ],
  license_key_type_gone: [409, "the license's key type is deleted; mint a license against another"],
  license_not_imported: [409, 'the license was not imported; revoke it instead'],
  license_used: [409, 'the license has changed since it was imported; revoke it instead'],
  import_taken_back: [409, 'the import of the license was taken back; import it again'],
  device_not_found: [404, 'device not found'],
  license_key_unusable: [
    422,
    'licenseKey has the form of keys made here, but a wrong check character: it would never be found',
  ],
  license_key_too_short: [422, 'licenseKey is too short: at least 6 letters or digits'],
  created_in_the_future: [422, 'createdAt must not lie in the future'],
  not_ended_yet: [422, 'a license with the status expired or fallback needs an expiresAt that has passed'],
  ends_before_it_begins: [422, 'expiresAt must lie after createdAt'],
  more_devices_than_seats: [422, 'the license has more devices than seats'],
  plan_limit: [402, 'the plan allows no more active devices; move to a higher plan'],
  token_exists: [409, 'this token exists already'],
  token_not_found: [404, 'token not found'],
  member_exists: [409, 'somebody with this e-mail address is a member already'],
  member_not_found: [404, 'member not found'],
  last_owner: [409, 'a tenant keeps at least one owner; make somebody else an owner first'],
  login_settled: [409, 'this sign-in has been approved or denied already'],
  scope_not_grantable: [422, 'these scopes were not asked for, or your role cannot grant them'],
  customer_exists: [409, 'this customer exists already'],
  customer_not_found: [404, 'customer not found'],
  sdk_key_lost: [409, 'the SDK key can be shown no more; rotate it'],
  webhook_target_not_https: [422, 'url must begin with https://'],
  webhook_target_has_credentials: [
    422,
    'url must not hold a user name or a password; check the signature instead',
  ],
  webhook_target_not_public: [422, 'url must lead to a public address, whatever its name resolves to'],
  webhook_without_url: [422, 'url null ends deliveries; leave events and rotateSecret out'],
  license_of_another_customer: [409, 'the license belongs to another customer'],
  subject_not_found: [404, 'nobody with this e-mail address is known to the tenant'],
  subject_is_member: [409, 'the person is a member of the dashboard; remove them there first'],
  provider_not_found: [404, 'provider not found'],
  integration_connected: [409, 'the provider is connected already; disconnect it first'],
  integration_not_connected: [
    409,
    'the provider is not connected; connect it first: POST /v1/integrations/{provider}/connect',
  ],
  mapping_taken: [409, 'another product is mapped to one of these ids already; take it out there first'],
  mapping_key_type_not_found: [422, 'the mapping names a key type that the product does not have'],
  mapping_price_not_found: [
    422,
    'the mapping names a price that the card provider does not have, or has archived',
  ],
  key_type_without_price: [
    422,
    'the key type has no price at the card provider; say at which it is sold, and verify it',
  ],
  platform_key_missing: [
    422,
    'the card provider is not set up on this installation; its operator has to set KEYLEDGER_STRIPE_SECRET_KEY',
  ],
  platform_key_refused: [
    422,
    "the card provider does not accept this installation's key; its operator has to set a valid KEYLEDGER_STRIPE_SECRET_KEY",
  ],
  platform_secret: [
    422,
    "the card provider's notification secret is the installation's; its operator sets KEYLEDGER_STRIPE_WEBHOOK_SECRET",
  ],
  webhook_secret_wanted: [
    400,
    'body webhookSecret: required; the provider shows it where its webhook is set up',
  ],
  webhook_secret_unwanted: [400, 'body webhookSecret: gumroad has none; a token is made for it'],
  test_keys_wanted: [
    422,
    'test mode takes test keys only: publishableKey pk_test_…, secretKey sk_test_… or rk_test_…',
  ],
  test_keys_missing: [
    409,
    "the product is in test mode without the card provider's test keys; give them: POST /v1/products/{productId}/test-mode",
  ],
  test_purchase_exists: [409, 'this test purchase exists already'],
  test_purchase_not_found: [404, 'test purchase not found'],
  test_purchase_without_provider: [
    409,
    'nothing to buy through: connect a provider (POST /v1/integrations/{provider}/connect) or put the product into test mode (POST /v1/products/{productId}/test-mode)',
  ],
  sale_not_found: [404, 'sale not found'],
  sale_not_parked: [409, 'the sale has its license already; there is nothing to replay'],
  sale_still_parked: [
    409,
    'the sale cannot be licensed yet; read it for the reason, put that right and replay it again',
  ],
  key_type_in_use: [409, 'live licenses reference this key type; revoke them or let them expire first'],
  key_type_is_last: [409, 'this is the only key type of the product, which needs one; add another first'],
  confirmation_exists: [409, 'this confirmation exists already'],
  confirmation_not_found: [404, 'confirmation not found'],
  confirmation_unknown: [403, 'no confirmation of this token has this id; send the request without one'],
  confirmation_mismatch: [
    403,
    'the confirmation is for another request; send exactly the one it was asked with',
  ],
  confirmation_pending: [403, 'the confirmation awaits its approval; poll it until it is approved'],
  confirmation_approved: [409, 'the confirmation is approved already'],
  confirmation_denied: [403, 'the confirmation was denied'],
  confirmation_expired: [403, 'the confirmation has expired; send the request without it for a new one'],
  confirmation_consumed: [
    403,
    'the confirmation was used already; send the request without it for a new one',
  ],
  approval_by_another: [
    403,
    'another member of the workspace has to approve this: whoever asked for it, themselves or with a token of theirs, cannot',
  ],
  delivery_not_found: [404, 'delivery not found'],
  moment_in_the_future: [
    400,
    'querystring asOf: it has not come to that yet; ask about a moment that has passed',
  ],
}

export function problemOfRefusal(code: RefusalCode): Problem {
  const [status, message] = refusals[code]
  return new Problem(status, status === 403 ? 'forbidden' : 'invalid_request', message)
}
