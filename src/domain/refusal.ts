/**
 * Every reason for which the domain says no. The edges map each code to a status and a message in one table
 * of theirs, so that a code without an answer does not compile.
 */
export type RefusalCode =
  | 'tenant_exists'
  | 'tenant_id_reserved'
  | 'tenant_not_found'
  | 'tenant_suspended'
  | 'tenant_closed'
  | 'product_exists'
  | 'product_not_found'
  | 'product_limit_reached'
  | 'key_type_exists'
  | 'key_type_not_found'
  | 'quantity_not_allowed'
  | 'quantity_too_large'
  | 'expiry_in_the_past'
  | 'license_exists'
  | 'license_not_found'
  | 'license_revoked'
  | 'license_expired'
  | 'license_fallback'
  | 'license_reminted'
  | 'license_perpetual'
  | 'seat_limit_reached'
  | 'plan_limit'
  | 'token_exists'
  | 'token_not_found'
  | 'member_exists'
  | 'member_not_found'
  | 'last_owner'
  | 'login_settled'
  | 'scope_not_grantable'
  | 'customer_exists'
  | 'customer_not_found'
  | 'license_of_another_customer'
  | 'sdk_key_lost'
  | 'webhook_target_not_https'
  | 'webhook_target_has_credentials'
  | 'webhook_target_not_public'
  | 'webhook_without_url'
  | 'provider_not_found'
  | 'integration_connected'
  | 'integration_not_connected'
  | 'mapping_taken'
  | 'mapping_key_type_not_found'
  | 'mapping_price_not_found'
  | 'platform_key_missing'
  | 'platform_key_refused'
  | 'platform_secret'
  | 'webhook_secret_wanted'
  | 'webhook_secret_unwanted'
  | 'test_keys_wanted'
  | 'test_purchase_exists'
  | 'test_purchase_not_found'
  | 'test_purchase_without_provider'
  | 'key_type_in_use'
  | 'key_type_is_last'
  | 'confirmation_exists'
  | 'confirmation_not_found'
  | 'confirmation_unknown'
  | 'confirmation_mismatch'
  | 'confirmation_pending'
  | 'confirmation_approved'
  | 'confirmation_denied'
  | 'confirmation_expired'
  | 'confirmation_consumed'

/** A command that the rules do not allow. Nothing has been recorded. */
export class Refusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode) {
    super(code)
    this.name = 'Refusal'
    this.code = code
  }
}
