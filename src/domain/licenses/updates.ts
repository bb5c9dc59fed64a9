import type { Duration, KeyType } from '../products/key-type.ts'
import type { LicenseTerms } from './events.ts'
import { expiryAfter } from './expiry.ts'

/** Which builds of its product a license covers: those that were built until a moment, or all of them. */
export type Updates = {
  /** A build of this moment is the last one that is covered; null covers every build. */
  updatesUntil: string | null
  /** Up to when the payments of its sale are counted in `updatesUntil`; null for since its issue. */
  updatesPaidAt: string | null
}

/** The later payments of a sale, and for how long each extends the updates. */
export type PaidUpdates = {
  /** When each of them was made, in any order. */
  paidAt: readonly string[]
  /** The period of each key type of the product that has one. */
  byKeyType: ReadonlyMap<string, Duration>
}

/** The last moment that the stores and signed texts can hold. */
const lastMoment = '9999-12-31T23:59:59.000Z'

/** The end of the updates that begin at `from`; null for a key type whose licenses cover every build. */
export const updatesAfter = ({ updates }: Pick<KeyType, 'updates'>, from: string): string | null =>
  updates ? endAfter(from, updates) : null

/** Whether a license covers a build. @param builtAt null when it is not known, which counts as covered */
export const isCovered = ({ updatesUntil }: Pick<Updates, 'updatesUntil'>, builtAt: string | null): boolean =>
  updatesUntil === null || builtAt === null || builtAt <= updatesUntil

/**
 * The end of the updates of a license that gets another key type at `at`: it keeps the one that it has. One that covered every
 * build gets a period of its new key type, as a new license would.
 * @returns undefined when nothing changes
 */
export function updatesOfNewKeyType(
  { updatesUntil }: Pick<Updates, 'updatesUntil'>,
  updates: Duration | null | undefined,
  at: string,
): string | undefined {
  return updatesUntil === null && updates ? endAfter(at, updates) : undefined
}

/**
 * Extends the updates for each payment that is not counted yet: by the period of the key type, from the end of the updates or
 * from the payment, whichever is later. So a payment never shortens them, and extends them once.
 * @returns the end, and up to when payments are counted now; both as they were when the license covers every build
 */
export function updatesPaidBy(
  { updatesUntil, updatesPaidAt, createdAt }: Updates & Pick<LicenseTerms, 'createdAt'>,
  keyTypeId: string,
  { paidAt, byKeyType }: PaidUpdates,
): Updates {
  if (updatesUntil === null) return { updatesUntil, updatesPaidAt }
  const since = updatesPaidAt ?? createdAt
  const due = paidAt.filter((moment) => moment > since).sort()
  const period = byKeyType.get(keyTypeId)
  const end = (until: string, paid: string) =>
    period ? endAfter(until > paid ? until : paid, period) : until
  return { updatesUntil: due.reduce(end, updatesUntil), updatesPaidAt: due.at(-1) ?? updatesPaidAt }
}

/** As an expiry, and never beyond what can be stored. */
function endAfter(from: string, period: Duration): string {
  const end = expiryAfter(from, period)
  return end.length > lastMoment.length || end > lastMoment ? lastMoment : end
}
