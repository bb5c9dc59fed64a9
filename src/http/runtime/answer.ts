import { entitlementsFor } from '../../../projections/licenses/entitlements.ts'
import type { RuntimeFinding } from '../../../projections/licenses/runtime.ts'
import type { FoundLicense } from '../../commands/devices.ts'
import { nextOverrideEnd } from '../../domain/customer/overrides.ts'
import { unixSeconds } from '../../domain/license/expiry.ts'
import { statusAt } from '../../domain/license/license.ts'
import type { RefusalCode } from '../../domain/refusal.ts'
import { Problem, unavailable } from '../problem.ts'

export type RuntimeStatus =
  | 'active'
  | 'fallback'
  | 'expired'
  | 'revoked'
  | 'reminted'
  | 'inactive'
  | 'not_found'
  | 'seat_limit_reached'
  | 'plan_limit'

export type Verdict = {
  status: RuntimeStatus
  expires_at: number | null
  entitlements: string[]
  revalidate_after: number
}

/** What a key that was never issued gets, when its check character alone says so. */
export function unknownKey(now: string): Verdict {
  return nothing('not_found', unixSeconds(now) + defaultRevalidateSeconds)
}

const defaultRevalidateSeconds = 3600

/**
 * What a finding means for a device at a moment. A revoked license and one that never was look alike on the wire
 * but for their status: no expiry, no entitlements. An expired license says so whether or not the device has a
 * seat; fallback entitlements are for seated devices.
 * @param deviceId undefined asks about the license alone
 * @throws Problem 404 when the tenant has no such product, 503 when part of the license's history cannot be read
 */
export function verdictOn(finding: RuntimeFinding, deviceId: string | undefined, now: string): Verdict {
  if (finding.found === 'no product') {
    throw new Problem(404, 'product_not_found', 'no product with this product_id on this account')
  }
  const later = unixSeconds(now) + finding.revalidateAfterSeconds
  if (finding.found === 'no license') return nothing('not_found', later)
  if (finding.found === 'old key') return nothing('reminted', later)
  if (finding.uncertain) throw unavailable('the state of this license cannot be read at the moment')
  const { license } = finding
  const status = statusAt(license, now)
  if (status === 'revoked') return nothing('revoked', later)
  const expiresAt = license.expiresAt === null ? null : unixSeconds(license.expiresAt)
  const seated = deviceId === undefined || license.seats.get(deviceId)?.status === 'active'
  if (status !== 'expired' && !seated) {
    return { status: 'inactive', expires_at: expiresAt, entitlements: [], revalidate_after: later }
  }
  return {
    status,
    expires_at: expiresAt,
    entitlements: entitlementsFor(status, finding, now),
    revalidate_after: Math.min(later, ...endsAhead(status, finding, now)),
  }
}

/** When the answer will have changed by the clock alone: a client that keeps it must ask again then. */
function endsAhead(status: RuntimeStatus, { license, overrides }: FoundLicense, now: string): number[] {
  const ends = [
    status === 'active' ? license.expiresAt : null,
    status === 'active' || status === 'fallback' ? nextOverrideEnd(overrides, license.productId, now) : null,
  ]
  return ends.flatMap((end) => (end === null ? [] : unixSeconds(end)))
}

/** The answer to an activation that the rules do not allow, or undefined when the refusal is no such answer. */
export function statusOfRefusal(code: RefusalCode): RuntimeStatus | undefined {
  return refusedAs[code]
}

const refusedAs: Partial<Record<RefusalCode, RuntimeStatus>> = {
  license_revoked: 'revoked',
  license_expired: 'expired',
  license_fallback: 'fallback',
  license_reminted: 'reminted',
  seat_limit_reached: 'seat_limit_reached',
  plan_limit: 'plan_limit',
}

const nothing = (status: RuntimeStatus, revalidateAfter: number): Verdict => ({
  status,
  expires_at: null,
  entitlements: [],
  revalidate_after: revalidateAfter,
})
