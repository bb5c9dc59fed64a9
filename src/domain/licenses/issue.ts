import type { KeyType } from '../products/key-type.ts'
import { Refusal } from '../refusal.ts'
import { expiryAfter, wholeSeconds } from './expiry.ts'

/** What a read model's integer column holds with room to spare. */
export const mostSeats = 1_000_000_000

export type Terms = { quantity: number; deviceLimit: number | null; expiresAt: string | null }

/** What a request may ask for beside its key type's own terms; an absent field leaves the key type's. */
export type TermsAsked = {
  quantity?: number | undefined
  deviceLimit?: number | null | undefined
  expiresAt?: string | null | undefined
}

/**
 * The terms of a license issued now against a key type: its device limit is per unit, its expiry counts from `at`.
 * @throws Refusal `quantity_not_allowed` for more than one unit of a key type not sold in multiples,
 *   `quantity_too_large`, `expiry_in_the_past`
 */
export function termsOf(keyType: KeyType, asked: TermsAsked, at: string): Terms {
  const terms = termsFrom(keyType, asked, at)
  if (terms.expiresAt !== null && terms.expiresAt <= at) throw new Refusal('expiry_in_the_past')
  return terms
}

/**
 * As {@link termsOf}, for a license that was issued at `from` somewhere else and may have ended since.
 * @throws Refusal `quantity_not_allowed`, `quantity_too_large`
 */
export function termsFrom(keyType: KeyType, asked: TermsAsked, from: string): Terms {
  const quantity = asked.quantity ?? 1
  if (quantity > 1 && !keyType.sellInMultiples) throw new Refusal('quantity_not_allowed')
  if (keyType.maxQuantity !== null && quantity > keyType.maxQuantity) throw new Refusal('quantity_too_large')
  const perUnit = keyType.deviceLimit
  const deviceLimit =
    asked.deviceLimit !== undefined ? asked.deviceLimit : perUnit === null ? null : perUnit * quantity
  if (deviceLimit !== null && deviceLimit > mostSeats) throw new Refusal('quantity_too_large')
  const ownExpiry = keyType.duration === null ? null : expiryAfter(from, keyType.duration)
  const expiresAt =
    asked.expiresAt === undefined ? ownExpiry : asked.expiresAt && wholeSeconds(asked.expiresAt)
  return { quantity, deviceLimit, expiresAt }
}

/** How many units of a key type are sold at once; null for any number. */
export const mostSold = ({ sellInMultiples, maxQuantity }: KeyType): number | null =>
  sellInMultiples ? maxQuantity : 1

/**
 * The terms of a purchase that is paid, which never refuses: the quantity that was paid for, also above what the key
 * type sells, and at least as long as it is paid.
 * @param paid the quantity, and until when the first payment of a subscription reaches
 */
export function termsPaidFor(
  keyType: KeyType,
  paid: { quantity: number; paidUntil: string | null },
  at: string,
): Terms {
  const quantity = Math.min(paid.quantity, mostSeats)
  const perUnit = keyType.deviceLimit
  const deviceLimit = perUnit === null ? null : Math.min(perUnit * quantity, mostSeats)
  const ownExpiry = keyType.duration === null ? null : expiryAfter(at, keyType.duration)
  const isPaidLonger = ownExpiry !== null && paid.paidUntil !== null && paid.paidUntil > ownExpiry
  return { quantity, deviceLimit, expiresAt: isPaidLonger ? paid.paidUntil : ownExpiry }
}
