import type { PresentProduct } from '../../projections/products/queries.ts'
import type { SaleTerms } from '../domain/licenses/following.ts'
import { maxSeats } from '../domain/licenses/issue.ts'
import { findKeyType } from '../domain/products/product.ts'
import type { SoldItem } from '../domain/sales/events.ts'
import { isItem, itemsOf, type SaleItem } from '../domain/sales/items.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { mappedTo } from './mapping.ts'

/**
 * The terms that a license gets when its subscription changes: those of the latest plan that a key type of the item's own
 * product is mapped to, and the latest quantity, even one in which the key type is not sold, since it was paid.
 * @returns `terms` null when the license stays as it was sold; `unmapped` the latest plan, when no key type is mapped to it
 */
export async function termsOfPlan(
  ports: Ports<'db'>,
  sale: KnownSale,
  item: SaleItem,
  product: PresentProduct | undefined,
): Promise<{ terms: SaleTerms | null; unmapped: string | null }> {
  const unchanged = { terms: null, unmapped: null }
  const change = await changeOf(ports, sale, item, product)
  if (change === undefined) return unchanged
  const { keyTypeId = item.keyTypeId, quantity, unmapped } = change
  const keyType = product && findKeyType(product, keyTypeId ?? '')
  if (!keyType) return { terms: null, unmapped }
  const units = Math.min(quantity ?? item.quantity, maxSeats)
  const perUnit = keyType.deviceLimit
  const deviceLimit = perUnit === null ? null : Math.min(perUnit * units, maxSeats)
  const { onExpiry } = keyType
  return { terms: { keyTypeId: keyType.keyTypeId, quantity: units, deviceLimit, onExpiry }, unmapped }
}

type Change = { keyTypeId?: string; quantity: number | undefined; unmapped: string | null }

/** What the subscription was changed to, as far as it concerns the item; undefined when nothing of it was changed. */
async function changeOf(
  ports: Ports<'db'>,
  sale: KnownSale,
  item: SaleItem,
  product: PresentProduct | undefined,
): Promise<Change | undefined> {
  const { plans, quantity, items } = sale.facts
  if (sale.others.length > 0) {
    // Without all items it is not known which one a plan or a quantity is of.
    return items === null ? undefined : changeAmong(ports, sale, item, product, items.items)
  }
  if (plans.length === 0 && quantity === null) return undefined
  return { ...(await planned(ports, sale, item, product)), quantity: quantity?.quantity }
}

/**
 * The item of a subscription that continues this one: the same, or a new one of the same product. An item that is not
 * in the subscription any more keeps the terms that it was sold with, and ends with the paid period.
 */
async function changeAmong(
  ports: Ports<'db'>,
  sale: KnownSale,
  item: SaleItem,
  product: PresentProduct | undefined,
  present: readonly { sold: SoldItem; quantity: number }[],
): Promise<Change | undefined> {
  const same = present.find(({ sold }) => isItem(sold, item))
  if (same) return { keyTypeId: item.keyTypeId ?? '', quantity: same.quantity, unmapped: null }
  const bought = itemsOf(sale)
  for (const { sold, quantity } of present) {
    if (bought.some((other) => isItem(sold, other))) continue
    const keyTypeId = await keyTypeOf(ports, sale, item, product, sold)
    if (keyTypeId !== undefined) return { keyTypeId, quantity, unmapped: null }
  }
  return undefined
}

async function planned(
  ports: Ports<'db'>,
  sale: KnownSale,
  item: SaleItem,
  product: PresentProduct | undefined,
): Promise<{ keyTypeId?: string; unmapped: string | null }> {
  let unmapped: string | null = null
  for (const { sold } of sale.facts.plans.toReversed()) {
    const keyTypeId = await keyTypeOf(ports, sale, item, product, sold)
    if (keyTypeId !== undefined) return { keyTypeId, unmapped }
    unmapped ??= nameOf(sold)
  }
  return { unmapped }
}

async function keyTypeOf(
  ports: Ports<'db'>,
  sale: KnownSale,
  item: SaleItem,
  product: PresentProduct | undefined,
  sold: SoldItem,
): Promise<string | undefined> {
  if (item.keyTypeId !== null && isItem(sold, item)) return item.keyTypeId
  const { tenantId, provider } = sale
  const named = 'productId' in sold ? sold : await mappedTo(ports, tenantId, provider, sold.providerProduct)
  // A license never changes its product: its key is known under the product's name.
  if (!product || named?.productId !== product.productId) return undefined
  const keyType = named.keyTypeId === null ? product.keyTypes[0] : findKeyType(product, named.keyTypeId)
  return keyType?.keyTypeId
}

const nameOf = (sold: SoldItem): string =>
  'providerProduct' in sold ? sold.providerProduct : `${sold.productId} ${sold.keyTypeId ?? ''}`.trim()
