import { sameJson } from '../equality.ts'
import { type CreditTarget, type ItemCredit, placeOf } from './credits.ts'
import type { ParkedReason, SaleEvent } from './events.ts'
import type { SaleLine, SoldItem } from './notifications.ts'

type Received = Extract<SaleEvent, { type: 'SaleReceived' }>['data']

/** One of the things that were bought at once, each with a license of its own. */
export type SaleItem = {
  sold: SoldItem
  quantity: number
  licenseId: string
  keyName: string
  /** Its price at the provider, where `sold` is something else. */
  priceId?: string | undefined
  line?: SaleLine | undefined
} & ItemState

export type ItemState = {
  productId: string | null
  keyTypeId: string | null
  /** When the key type was determined: the license's duration counts from then. */
  mappedAt: string | null
  /**
   * More was paid for than its key type allows: `sold` is the most units that it sells per purchase. The license
   * covers what was paid for.
   */
  exceeded: { sold: number } | null
  licensedAt: string | null
  /** The expiry of the license as it was issued. */
  firstExpiresAt: string | null
  /** Whether its term was to start at its first activation when it was issued. */
  waits?: true | undefined
  /** Of one that adds to a meter instead of having a license; absent for every other. */
  credit?: ItemCredit | undefined
}

/** An item besides the first, and why it has no license, if it cannot have one. */
export type FurtherItem = SaleItem & { unmapped: { reason: ParkedReason; detail: string } | null }

/** What to issue for an item, or why nothing can be issued for it. */
export type Resolution =
  | {
      productId: string
      keyTypeId: string
      /** The largest quantity of the key type per purchase, if more were bought. */
      maxSold?: number
    }
  | { credit: CreditTarget }
  | { reason: ParkedReason; detail: string }

export const unmappedItem: ItemState = {
  productId: null,
  keyTypeId: null,
  mappedAt: null,
  exceeded: null,
  licensedAt: null,
  firstExpiresAt: null,
}

export type WithItems = SaleItem & { others: readonly FurtherItem[] }

/** The first item alone, in the shape of the others. */
const firstOf = ({ sold, quantity, licenseId, keyName, priceId, line, ...sale }: WithItems): SaleItem => {
  const { productId, keyTypeId, mappedAt, exceeded, licensedAt, firstExpiresAt, waits, credit } = sale
  const licensed = { licensedAt, firstExpiresAt, ...(waits && { waits }), ...(credit && { credit }) }
  const state = { productId, keyTypeId, mappedAt, exceeded, ...licensed }
  return { sold, quantity, licenseId, keyName, priceId, line, ...state }
}

/** Whether a subscription that names this means the item. */
export const isItem = (named: SoldItem, { sold, priceId }: Pick<SaleItem, 'sold' | 'priceId'>): boolean =>
  sameJson(named, sold) || ('providerProduct' in named && named.providerProduct === priceId)

/** Every item, the first one first. The place of an item in this list is its number in events. */
export const itemsOf = (sale: WithItems): readonly SaleItem[] => [firstOf(sale), ...sale.others]

export const othersIn = ({ items = [] }: Pick<Received, 'items'>): FurtherItem[] =>
  items.map((item) => ({ ...item, ...unmappedItem, unmapped: null }))

/** The items in another order: this one and the first change places. */
export function movedFirst<Sale extends WithItems>(sale: Sale, item: number): Sale {
  const moved = sale.others[item - 1]
  if (!moved) return sale
  const { unmapped: _, ...first } = moved
  const others = sale.others.with(item - 1, { ...firstOf(sale), unmapped: null })
  // What only one of them has must not stay behind.
  return { ...sale, priceId: undefined, line: undefined, credit: undefined, ...first, others }
}

/** The sale with changes of one item; 0 is the first. */
export function withItem<Sale extends WithItems>(
  sale: Sale,
  item: number,
  change: Partial<ItemState> & Partial<Pick<FurtherItem, 'unmapped'>>,
): Sale {
  const before = sale.others[item - 1]
  if (item > 0)
    return before ? { ...sale, others: sale.others.with(item - 1, { ...before, ...change }) } : sale
  const { unmapped: _, ...own } = change
  return { ...sale, ...own }
}

/** The events that say what each item is, by its place. The sale is parked if no item can be licensed. */
export function resolvedItems(
  items: readonly Pick<SaleItem, 'quantity'>[],
  resolutions: readonly Resolution[],
  at: string,
): SaleEvent[] {
  const first = resolutions.findIndex((resolution) => !('reason' in resolution))
  const [parked] = resolutions
  if (first < 0) return parked && 'reason' in parked ? [{ type: 'SaleParked', data: { ...parked, at } }] : []
  const swapped = (place: number) => (place === 0 ? first : place === first ? 0 : place)
  const moved: SaleEvent[] = first > 0 ? [{ type: 'ItemMovedFirst', data: { item: first, at } }] : []
  const each = resolutions.flatMap((_, place) => {
    const [item, resolution] = [items[swapped(place)], resolutions[swapped(place)]]
    return item && resolution ? resolvedItem(place, item.quantity, resolution, at) : []
  })
  return [...moved, ...each]
}

/** The events that say what one item is; it is not the first if it cannot be licensed. */
export function resolvedItem(
  place: number,
  quantity: number,
  resolution: Resolution,
  at: string,
): SaleEvent[] {
  if ('reason' in resolution) {
    return place === 0 ? [] : [{ type: 'ItemNotMapped', data: { item: place, ...resolution, at } }]
  }
  const own = place === 0 ? {} : { item: place }
  if ('credit' in resolution) {
    const { productId, unit, amount, days } = resolution.credit
    const credit = { productId, ...placeOf(resolution.credit), unit, amount, days }
    return [{ type: 'CreditMapped', data: { ...own, ...credit, at } }]
  }
  const { productId, keyTypeId, maxSold: sold } = resolution
  const mapped: SaleEvent = { type: 'SaleMapped', data: { productId, keyTypeId, ...own, at } }
  if (sold === undefined) return [mapped]
  return [mapped, { type: 'QuantityExceeded', data: { keyTypeId, quantity, sold, ...own, at } }]
}
