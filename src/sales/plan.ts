import type { PresentProduct } from '../../projections/products/queries.ts'
import { sameJson } from '../domain/equality.ts'
import type { SaleTerms } from '../domain/licenses/following.ts'
import { maxSeats } from '../domain/licenses/issue.ts'
import { findKeyType } from '../domain/products/product.ts'
import type { SoldItem } from '../domain/sales/events.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { mappedTo } from './mapping.ts'

/**
 * The terms that a license gets when its subscription changes: those of the latest plan that a key type of the sale's own
 * product is mapped to, and the latest quantity, even one in which the key type is not sold, since it was paid.
 * @returns `terms` null when the license stays as it was sold; `unmapped` the latest plan, when no key type is mapped to it
 */
export async function termsOfPlan(
  services: Ports<'db'>,
  sale: KnownSale,
  product: PresentProduct | undefined,
): Promise<{ terms: SaleTerms | null; unmapped: string | null }> {
  const { plans, quantity } = sale.facts
  if (plans.length === 0 && quantity === null) return { terms: null, unmapped: null }
  const { keyTypeId = sale.keyTypeId, unmapped } = await planned(services, sale, product)
  const keyType = product && findKeyType(product, keyTypeId ?? '')
  if (!keyType) return { terms: null, unmapped }
  const units = Math.min(quantity?.quantity ?? sale.quantity, maxSeats)
  const perUnit = keyType.deviceLimit
  const deviceLimit = perUnit === null ? null : Math.min(perUnit * units, maxSeats)
  const { onExpiry } = keyType
  return { terms: { keyTypeId: keyType.keyTypeId, quantity: units, deviceLimit, onExpiry }, unmapped }
}

async function planned(
  services: Ports<'db'>,
  sale: KnownSale,
  product: PresentProduct | undefined,
): Promise<{ keyTypeId?: string; unmapped: string | null }> {
  let unmapped: string | null = null
  for (const { sold } of sale.facts.plans.toReversed()) {
    const keyTypeId = await keyTypeOf(services, sale, product, sold)
    if (keyTypeId !== undefined) return { keyTypeId, unmapped }
    unmapped ??= nameOf(sold)
  }
  return { unmapped }
}

async function keyTypeOf(
  services: Ports<'db'>,
  sale: KnownSale,
  product: PresentProduct | undefined,
  sold: SoldItem,
): Promise<string | undefined> {
  if (sale.keyTypeId !== null && sameJson(sold, sale.sold)) return sale.keyTypeId
  const { tenantId, provider } = sale
  const named =
    'productId' in sold ? sold : await mappedTo(services, tenantId, provider, sold.providerProduct)
  // A license never changes its product: its key is known under the product's name.
  if (!product || named?.productId !== product.productId) return undefined
  const keyType = named.keyTypeId === null ? product.keyTypes[0] : findKeyType(product, named.keyTypeId)
  return keyType?.keyTypeId
}

const nameOf = (sold: SoldItem): string =>
  'providerProduct' in sold ? sold.providerProduct : `${sold.productId} ${sold.keyTypeId ?? ''}`.trim()
