import { z } from 'zod'
import { sameJson } from '../equality.ts'
import { AmountText } from '../meters/amount.ts'
import { Slug } from '../values.ts'
import { nameOf, SoldId } from './mapping.ts'

/** What one unit of something that a provider sells adds to a meter. */
export const CreditPack = z.strictObject({
  meter: Slug,
  /** Small enough that a thousand of them are an amount. */
  amount: AmountText.refine(
    (amount) => /^(?!0(?:\.0+)?$)\d{1,9}(?:\.\d+)?$/.test(amount),
    'must be more than 0, with up to 9 digits before the point',
  ),
  /** How long it can be spent, from its purchase; null for ever. */
  days: z.int().min(1).max(3650).nullable(),
})
export type CreditPack = z.infer<typeof CreditPack>

/** By the provider's ids: permalinks, variants, prices, products or payment links. */
export const CreditPacks = z
  .record(SoldId, CreditPack)
  .refine((packs) => Object.keys(packs).length <= 1000, 'must have at most 1,000 entries')
export type CreditPacks = z.infer<typeof CreditPacks>

/** What of a provider sells credits for the licenses of a product. */
export type ProductPacks = { productId: string; packs: CreditPacks }

/** The names by which notifications name what was sold. */
export const packIds = (packs: CreditPacks): string[] => Object.keys(packs).map(nameOf)

/** The credits that one of a provider's ids sells; undefined where it sells none. */
export function packSoldAs(packs: CreditPacks, id: string): CreditPack | undefined {
  return Object.entries(packs).find(([each]) => nameOf(each) === nameOf(id))?.[1]
}

/** The packs of all products with these in place of the product's former ones; a product without any is left out. */
export function withPacks(
  known: readonly ProductPacks[],
  productId: string,
  packs: CreditPacks,
): ProductPacks[] {
  const others = known.filter((other) => other.productId !== productId)
  return Object.keys(packs).length === 0 ? others : [...others, { productId, packs }]
}

/** Whether the product has these packs already. */
export const hasPacks = (known: readonly ProductPacks[], productId: string, packs: CreditPacks): boolean =>
  sameJson(known.find((entry) => entry.productId === productId)?.packs ?? {}, packs)

/** The packs without one of their ids. */
export const lessPack = (packs: CreditPacks, id: string): CreditPacks =>
  Object.fromEntries(Object.entries(packs).filter(([each]) => nameOf(each) !== nameOf(id)))
