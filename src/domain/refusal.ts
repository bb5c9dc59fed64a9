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
  | 'device_not_found'
  | 'license_key_unusable'
  | 'license_key_too_short'
  | 'created_in_the_future'
  | 'not_ended_yet'
  | 'ends_before_it_begins'
  | 'more_devices_than_seats'
  | 'plan_limit'
  | 'token_exists'
  | 'token_not_found'
  | 'member_exists'
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
