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
  plan_limit: 'plan_limit',
}

/** What the status `inactive` alone does not say. */
const reasonsOfInactive: Partial<Record<RefusalCode, RefusedReason>> = {
  license_suspended: 'suspended',
  build_not_covered: 'build_not_covered',
  seat_lost: 'seat_lost',
}

/** The reason of an activation that the rules refuse; undefined for a refusal that is not a status. */
export const reasonOfRefusal = (code: RefusalCode): RefusedReason | undefined =>
  reasonsOfInactive[code] ?? statusOfRefusal(code)
