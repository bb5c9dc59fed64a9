import type { FloatingSeats, KeyType, NamedSeats } from '../products/key-type.ts'
import { Refusal } from '../refusal.ts'
import { expiryAfter, wholeSeconds } from './expiry.ts'
import { recordedFloating } from './floating.ts'
import { recordedGrace } from './grace.ts'
import { recordedNamed } from './named.ts'
import { type RecordedTerm, termFrom } from './term.ts'
import { updatesAfter } from './updates.ts'

/** Well within a read model's integer column. */
export const maxSeats = 1_000_000_000

export type Terms = {
  quantity: number
  deviceLimit: number | null
  graceSeconds?: number
  /** Absent when the license covers every build. */
  updatesUntil?: string
  floating?: FloatingSeats
  named?: NamedSeats
} & RecordedTerm

/** What a request may set in addition to its key type's terms; an absent field leaves the key type's. */
export type TermsInput = {
  quantity?: number | undefined
  deviceLimit?: number | null | undefined
  expiresAt?: string | null | undefined
  /** null covers every build. */
  updatesUntil?: string | null | undefined
}

/**
 * The terms of a license issued now for a key type. The device limit is per unit, and the duration counts
 * from `at`, or from the first activation where the key type says so and no expiry is given.
 * @throws Refusal `quantity_not_allowed` for more than one unit of a key type not sold in multiples,
 *   `quantity_too_large`, `expiry_in_the_past`
 */
export function termsOf(keyType: KeyType, input: TermsInput, at: string): Terms {
  const issued = termsFrom(keyType, input, at)
  const terms = input.expiresAt === undefined ? { ...issued, ...termFrom(keyType, at) } : issued
  if (terms.expiresAt !== null && terms.expiresAt <= at) throw new Refusal('expiry_in_the_past')
  return terms
}

/**
 * As {@link termsOf}, for a license that another system issued at `from` and that may have expired since. Its duration counts
 * from then: it was in use before.
 * @throws Refusal `quantity_not_allowed`, `quantity_too_large`
 */
export function termsFrom(keyType: KeyType, input: TermsInput, from: string): Terms {
  const quantity = input.quantity ?? 1
  if (quantity > 1 && !keyType.sellInMultiples) throw new Refusal('quantity_not_allowed')
  if (keyType.maxQuantity !== null && quantity > keyType.maxQuantity) throw new Refusal('quantity_too_large')
  const perUnit = keyType.deviceLimit
  const deviceLimit =
    input.deviceLimit !== undefined ? input.deviceLimit : perUnit === null ? null : perUnit * quantity
  if (deviceLimit !== null && deviceLimit > maxSeats) throw new Refusal('quantity_too_large')
  const ownExpiry = keyType.duration === null ? null : expiryAfter(from, keyType.duration)
  const expiresAt =
    input.expiresAt === undefined ? ownExpiry : input.expiresAt && wholeSeconds(input.expiresAt)
  const updatesUntil =
    input.updatesUntil === undefined
      ? updatesAfter(keyType, from)
      : input.updatesUntil && wholeSeconds(input.updatesUntil)
  return {
    quantity,
    deviceLimit,
    expiresAt,
    ...recordedGrace(keyType),
    ...recordedFloating(keyType),
    ...recordedNamed(keyType),
    ...(updatesUntil !== null && { updatesUntil }),
  }
}

/** The largest quantity of a key type per purchase; null for no limit. */
export const maxSold = ({ sellInMultiples, maxQuantity }: KeyType): number | null =>
  sellInMultiples ? maxQuantity : 1

/**
 * The terms of a paid purchase. Never refuses: the license gets the quantity that was paid for, even above
 * the limit of the key type, and lasts at least as long as it is paid for.
 * A term waits for the first activation only if it was paid once: a subscription is paid by periods.
 * @param paid the quantity, and the end of the period that a subscription's first payment covers
 */
export function termsPaidFor(
  keyType: KeyType,
  paid: { quantity: number; paidUntil: string | null; isSubscription: boolean },
  at: string,
): Terms {
  const quantity = Math.min(paid.quantity, maxSeats)
  const perUnit = keyType.deviceLimit
  const deviceLimit = perUnit === null ? null : Math.min(perUnit * quantity, maxSeats)
  const updatesUntil = updatesAfter(keyType, at)
  const updates = updatesUntil === null ? {} : { updatesUntil }
  const policy = { ...recordedFloating(keyType), ...recordedNamed(keyType) }
  const seats = { quantity, deviceLimit, ...recordedGrace(keyType), ...policy, ...updates }
  if (!paid.isSubscription) return { ...seats, ...termFrom(keyType, at) }
  const { expiresAt } = termFrom({ ...keyType, startsAt: 'issue' }, at)
  const isPaidLonger = expiresAt !== null && paid.paidUntil !== null && paid.paidUntil > expiresAt
  return { ...seats, expiresAt: isPaidLonger ? paid.paidUntil : expiresAt }
}
