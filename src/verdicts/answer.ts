import { entitlementsFor } from '../../projections/licenses/entitlements.ts'
import type { KeyLookupResult, LicenseOfKey } from '../../projections/licenses/runtime.ts'
import { nextOverrideEnd } from '../domain/customers/overrides.ts'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import { type LicenseStatus, statusAt } from '../domain/licenses/license.ts'
import type { RefusalCode } from '../domain/refusal.ts'
import { NoSuchProduct, StateUnreadable } from './trouble.ts'

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
 * What a lookup means for a device at a moment. A revoked license and one that never was look alike on the wire
 * but for their status: no expiry, no entitlements. An expired license says so whether or not the device has a
 * seat; fallback entitlements are for seated devices.
 * @param seatNeeded false asks about the license alone
 * @throws NoSuchProduct; StateUnreadable when part of the license's history cannot be read
 */
export function verdictOn(lookup: KeyLookupResult, seatNeeded: boolean, now: string): Verdict {
  if (lookup.found === 'no product') {
    throw new NoSuchProduct()
  }
  const later = unixSeconds(now) + lookup.revalidateAfterSeconds
  if (lookup.found === 'no license') return nothing('not_found', later)
  if (lookup.found === 'old key') return nothing('reminted', later)
  if (lookup.uncertain)
    throw new StateUnreadable('the state of this license cannot be read right now; try again')
  const { license } = lookup
  const status = statusAt(license, now)
  if (status === 'revoked') return nothing('revoked', later)
  const expiresAt = license.expiresAt === null ? null : unixSeconds(license.expiresAt)
  if (status !== 'expired' && seatNeeded && !lookup.seated) {
    const revalidateAfter = Math.min(later, ...secondsOf(paidUntil(status, lookup)))
    return { status: 'inactive', expires_at: expiresAt, entitlements: [], revalidate_after: revalidateAfter }
  }
  return {
    status,
    expires_at: expiresAt,
    entitlements: entitlementsFor(status, lookup, now),
    revalidate_after: Math.min(later, ...endsAhead(status, lookup, now)),
  }
}

/** When the answer will have changed by the clock alone: a client that keeps it must ask again then. */
function endsAhead(status: LicenseStatus, lookup: LicenseOfKey, now: string): number[] {
  const { license, overrides } = lookup
  const grants = status === 'active' || status === 'fallback'
  return secondsOf(
    paidUntil(status, lookup),
    grants ? nextOverrideEnd(overrides, license.productId, now) : null,
  )
}

const paidUntil = (status: LicenseStatus, { license }: LicenseOfKey): string | null =>
  status === 'active' ? license.expiresAt : null

const secondsOf = (...ends: (string | null)[]): number[] =>
  ends.flatMap((end) => (end === null ? [] : unixSeconds(end)))

/** The answer to an activation that the rules do not allow, or undefined when the refusal is no such answer. */
export function statusOfRefusal(code: RefusalCode): RuntimeStatus | undefined {
  return refusedAs[code]
}

const refusedAs: Partial<Record<RefusalCode, RuntimeStatus>> = {
  license_revoked: 'revoked',
  license_expired: 'expired',
  license_reminted: 'reminted',
  seat_limit_reached: 'seat_limit_reached',
  plan_limit: 'plan_limit',
}

/** Whether an activation that comes to this status seats the device. */
export const isSeating = (status: RuntimeStatus): status is 'active' | 'fallback' =>
  status === 'active' || status === 'fallback'

const nothing = (status: RuntimeStatus, revalidateAfter: number): Verdict => ({
  status,
  expires_at: null,
  entitlements: [],
  revalidate_after: revalidateAfter,
})
