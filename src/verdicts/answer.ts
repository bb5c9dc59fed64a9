import { entitlementsFor, entitlementValuesFor } from '../../projections/licenses/entitlements.ts'
import type { KeyLookupResult, LicenseOfKey } from '../../projections/licenses/runtime.ts'
import { nextOverrideEnd } from '../domain/customers/overrides.ts'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import { type Expiry, graceUntilAt, graceUntilOf } from '../domain/licenses/grace.ts'
import { type LicenseStatus, statusAt } from '../domain/licenses/status.ts'
import { isCovered } from '../domain/licenses/updates.ts'
import type { EntitlementValues } from '../domain/products/entitlement-values.ts'
import type { FloatingSeats } from '../domain/products/key-type.ts'
import { NoSuchProduct, StateUnreadable } from './errors.ts'

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

/** Why a call is refused: the status, or more exactly where the status does not tell. */
export type RefusedReason =
  | RuntimeStatus
  | 'suspended'
  | 'build_not_covered'
  | 'seat_lost'
  | 'assigned_to_another'
  | 'borrowing_off'
  | 'borrow_limit_reached'

export type Verdict = {
  status: RuntimeStatus
  /** In Unix seconds; null for a perpetual license, and where it is not shown. */
  expiresAt: number | null
  entitlements: string[]
  /** Of those entitlements that have a value; undefined when none has one. */
  values?: EntitlementValues | undefined
  /** In Unix seconds. */
  revalidateAfter: number
  /** The end of the grace, in Unix seconds, while an active license is past its expiry. */
  graceUntil?: number
  /** Why it is not valid, where the status alone does not say it. */
  reason?: 'suspended' | 'build_not_covered' | 'seat_lost' | 'assigned_to_another'
  /** The last moment of a build that the license covers; null when it covers every one, and where it is not shown. */
  updatesUntil: string | null
}

/** The answer to a key that cannot exist, because its check character is wrong. */
export function unknownKey(now: string): Verdict {
  return nothing('not_found', unixSeconds(now) + defaultRevalidateSeconds)
}

const defaultRevalidateSeconds = 3600

/**
 * The answer to a device, from the result of a key look-up. A revoked and an unknown license differ only in
 * their status: no expiry, no entitlements. A suspended one is `inactive`, with a reason of its own. An expired license is `expired` whether or not the device has a
 * seat; fallback entitlements are only for devices with a seat. A build that the license does not cover is `inactive` as well.
 * @param seatNeeded false ignores the device and returns the status of the license
 * @param builtAt when the app was built, in the format of the log; null when it is not known
 * @throws NoSuchProduct; StateUnreadable when part of the license's history cannot be read
 */
export function verdictOn(
  lookup: KeyLookupResult,
  seatNeeded: boolean,
  now: string,
  builtAt: string | null = null,
): Verdict {
  if (lookup.kind === 'no product') {
    throw new NoSuchProduct()
  }
  const later = unixSeconds(now) + lookup.revalidateAfterSeconds
  if (lookup.kind === 'no license') return nothing('not_found', later)
  if (lookup.kind === 'old key') return nothing('reminted', later)
  if (lookup.uncertain)
    throw new StateUnreadable('the state of this license cannot be read right now; try again')
  const { license } = lookup
  const status = statusAt(license, now)
  if (status === 'revoked') return nothing('revoked', later)
  const { updatesUntil } = license
  const expiresAt = license.expiresAt === null ? null : unixSeconds(license.expiresAt)
  if (status === 'suspended') {
    return {
      status: 'inactive',
      expiresAt,
      entitlements: [],
      revalidateAfter: later,
      reason: 'suspended',
      updatesUntil,
    }
  }
  if (status !== 'expired' && (lookup.withoutSeat || (seatNeeded && !lookup.seated))) {
    const revalidateAfter = Math.min(later, ...secondsOf(...endsOf(status, lookup, now)))
    return {
      status: 'inactive',
      expiresAt,
      entitlements: [],
      revalidateAfter,
      updatesUntil,
      ...whyNoSeat(lookup),
    }
  }
  if (status !== 'expired' && !isCovered(license, builtAt)) {
    const reason = 'build_not_covered'
    return { status: 'inactive', expiresAt, entitlements: [], revalidateAfter: later, reason, updatesUntil }
  }
  const entitlements = entitlementsFor(status, lookup, now)
  return {
    status,
    expiresAt,
    updatesUntil,
    entitlements,
    values: entitlementValuesFor(entitlements, lookup, now),
    revalidateAfter: Math.min(later, ...endsAhead(status, lookup, now)),
    ...graceOf(status, license, now),
  }
}

function whyNoSeat({ withoutSeat, seatedByAnother, fence }: LicenseOfKey): Pick<Verdict, 'reason'> {
  if (withoutSeat || seatedByAnother) return { reason: 'assigned_to_another' }
  return fence === null ? {} : { reason: 'seat_lost' }
}

/** What a verdict becomes when the floating seat of the device is lost. */
export const withSeatLost = ({ expiresAt, revalidateAfter, updatesUntil }: Verdict): Verdict => ({
  status: 'inactive',
  expiresAt,
  entitlements: [],
  revalidateAfter,
  reason: 'seat_lost',
  updatesUntil,
})

/**
 * When a device with a floating seat calls again, in Unix seconds: when half of its period is over, so that one failed call does not
 * cost the seat.
 */
export const revalidateAfter = ({ seatSeconds }: FloatingSeats, now: string): number =>
  unixSeconds(now) + Math.floor(seatSeconds / 2)

/** What a verdict becomes when the floating seat of the device was kept. */
export const withSeatKept = (verdict: Verdict, floating: FloatingSeats, now: string): Verdict => ({
  ...verdict,
  revalidateAfter: Math.min(verdict.revalidateAfter, revalidateAfter(floating, now)),
})

function graceOf(status: LicenseStatus, license: Expiry, now: string): { graceUntil?: number } {
  const until = status === 'active' ? graceUntilAt(license, now) : null
  return until === null ? {} : { graceUntil: unixSeconds(until) }
}

/** When the answer changes by time alone: a client with a cached answer must validate again then. */
function endsAhead(status: LicenseStatus, lookup: LicenseOfKey, now: string): number[] {
  const { license, overrides } = lookup
  const grants = status === 'active' || status === 'fallback'
  return secondsOf(
    ...endsOf(status, lookup, now),
    grants ? nextOverrideEnd(overrides, license.productId, now) : null,
  )
}

/** The expiry of an active license that is still ahead, and the end of the grace after it. */
const endsOf = (status: LicenseStatus, { license }: LicenseOfKey, now: string): (string | null)[] =>
  status === 'active'
    ? [license.expiresAt, graceUntilOf(license)].filter((end) => end !== null && end > now)
    : []

const secondsOf = (...ends: (string | null)[]): number[] =>
  ends.flatMap((end) => (end === null ? [] : unixSeconds(end)))

/** Whether an activation with this status gives the device a seat. */
export const isSeating = (status: RuntimeStatus): status is 'active' | 'fallback' =>
  status === 'active' || status === 'fallback'

const nothing = (status: RuntimeStatus, revalidateAfter: number): Verdict => ({
  status,
  expiresAt: null,
  entitlements: [],
  revalidateAfter,
  updatesUntil: null,
})
