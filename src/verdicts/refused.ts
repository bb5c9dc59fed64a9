import type { RefusalCode } from '../domain/refusal.ts'
import type { RefusedReason, RuntimeStatus } from './answer.ts'

/** The status for an activation that the rules refuse; undefined for a refusal that is not a status. */
export function statusOfRefusal(code: RefusalCode): RuntimeStatus | undefined {
  return refusedAs[code]
}

const refusedAs: Partial<Record<RefusalCode, RuntimeStatus>> = {
  license_revoked: 'revoked',
  license_suspended: 'inactive',
  license_expired: 'expired',
  build_not_covered: 'inactive',
  license_reminted: 'reminted',
  seat_limit_reached: 'seat_limit_reached',
  seat_lost: 'inactive',
  assigned_to_another: 'inactive',
  plan_limit: 'plan_limit',
}

/** What a status alone does not say. Only apps borrow seats, whose answers have no status. */
const reasons: Partial<Record<RefusalCode, RefusedReason>> = {
  license_suspended: 'suspended',
  build_not_covered: 'build_not_covered',
  seat_lost: 'seat_lost',
  assigned_to_another: 'assigned_to_another',
  borrowing_off: 'borrowing_off',
  borrow_limit_reached: 'borrow_limit_reached',
}

/** The reason of an activation that the rules refuse; undefined for a refusal that has none. */
export const reasonOfRefusal = (code: RefusalCode): RefusedReason | undefined =>
  reasons[code] ?? statusOfRefusal(code)
