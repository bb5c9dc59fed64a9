import { z } from 'zod'
import { sameJson } from '../equality.ts'
import { Slug } from '../values.ts'
import { mappedBy, type Provider } from './provider.ts'

/** A provider's id of something that it sells. */
export const SoldId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\S+$/, 'must be an id without white space')
  .refine((id) => !/\p{C}/u.test(id), 'must be an id without invisible characters')

const SoldAs = z
  .record(SoldId, Slug)
  .refine((entries) => Object.keys(entries).length <= 1000, 'must have at most 1,000 entries')

/** A permalink of gumroad: its short name, or the whole URL. */
export const Permalink = SoldId.refine((permalink) => nameOf(permalink) !== '', 'must name a product')

/**
 * Which key type of one product each of the provider's ids stands for. Gumroad's permalinks stand for a whole
 * product; the ids of the other marketplaces, and stripe's payment links, stand for a key type each.
 */
export const Mapping = z.union([
  z.strictObject({ permalinks: z.array(Permalink).max(100) }),
  z.strictObject({ variants: SoldAs }),
  z.strictObject({ prices: SoldAs }),
  z.strictObject({ products: SoldAs }),
  z.strictObject({ paymentLinks: SoldAs }),
])
export type Mapping = z.infer<typeof Mapping>

export type ProductMapping = { productId: string; mapping: Mapping }

/** Gumroad sends a full URL where it shows a short name, so permalinks are compared by their last segment. */
export function nameOf(permalink: string): string {
  const [path = ''] = permalink.split(/[?#]/, 1)
  return path.replace(/\/+$/, '').split('/').at(-1) ?? ''
}

/** The ids by which the provider's notifications name what was sold. */
export function soldIds(mapping: Mapping): string[] {
  if ('permalinks' in mapping) return mapping.permalinks.map(nameOf)
  return Object.keys(soldAs(mapping))
}

/** The ids of the key types that the mapping names. */
export function targetsOf(mapping: Mapping): string[] {
  return 'permalinks' in mapping ? [] : Object.values(soldAs(mapping))
}

function soldAs(mapping: Exclude<Mapping, { permalinks: string[] }>): Record<string, string> {
  if ('variants' in mapping) return mapping.variants
  if ('paymentLinks' in mapping) return mapping.paymentLinks
  return 'prices' in mapping ? mapping.prices : mapping.products
}

/** A mapping of the provider without any id. */
const emptyMapping = (provider: Provider): Mapping =>
  provider === 'stripe' ? { paymentLinks: {} } : emptyMappings[mappedBy[provider]]

const emptyMappings = {
  permalinks: { permalinks: [] },
  variants: { variants: {} },
  prices: { prices: {} },
  products: { products: {} },
}

/**
 * The mapping of a product with one more id of the provider, or with another key type for it.
 * @param keyTypeId ignored for gumroad's permalinks, which stand for a whole product
 */
export function withItem(
  provider: Provider,
  mapping: Mapping = emptyMapping(provider),
  item: string,
  keyTypeId: string,
): Mapping {
  if (!('permalinks' in mapping)) return sameField(mapping, { ...soldAs(mapping), [item]: keyTypeId })
  return { permalinks: [...withoutItem(mapping, item), item].sort() }
}

/** The mapping without one of its ids. */
export function lessItem(mapping: Mapping, item: string): Mapping {
  if ('permalinks' in mapping) return { permalinks: withoutItem(mapping, item) }
  const { [item]: _, ...others } = soldAs(mapping)
  return sameField(mapping, others)
}

const withoutItem = ({ permalinks }: { permalinks: string[] }, item: string): string[] =>
  permalinks.filter((permalink) => nameOf(permalink) !== nameOf(item))

function sameField(
  mapping: Exclude<Mapping, { permalinks: string[] }>,
  entries: Record<string, string>,
): Mapping {
  if ('variants' in mapping) return { variants: entries }
  if ('paymentLinks' in mapping) return { paymentLinks: entries }
  return 'prices' in mapping ? { prices: entries } : { products: entries }
}

/** Whether one of the mapping's ids already belongs to another product than the given one. */
export function isTaken(known: readonly ProductMapping[], productId: string, mapping: Mapping): boolean {
  const wanted = new Set(soldIds(mapping))
  return known.some(
    (other) => other.productId !== productId && soldIds(other.mapping).some((id) => wanted.has(id)),
  )
}

/** The mappings with this one in place of its product's former one; a mapping without any id is removed. */
export function withMapping(
  known: readonly ProductMapping[],
  productId: string,
  mapping: Mapping,
): ProductMapping[] {
  const others = known.filter((other) => other.productId !== productId)
  return soldIds(mapping).length === 0 ? others : [...others, { productId, mapping }]
}

/** Whether the product already has this mapping. */
export function isMappedSo(known: readonly ProductMapping[], productId: string, mapping: Mapping): boolean {
  const before = known.find((entry) => entry.productId === productId)
  return before ? sameJson(before.mapping, mapping) : soldIds(mapping).length === 0
}

/**
 * The key type that a provider's id is mapped to; null for the product's first one (gumroad's permalinks),
 * and undefined for an id that the mapping does not hold.
 */
export function keyTypeSoldAs(mapping: Mapping, id: string): string | null | undefined {
  if ('permalinks' in mapping) {
    return mapping.permalinks.some((permalink) => nameOf(permalink) === nameOf(id)) ? null : undefined
  }
  const entries = soldAs(mapping)
  return Object.hasOwn(entries, id) ? entries[id] : undefined
}
