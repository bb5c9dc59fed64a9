import { findIntegration, listPricedProducts } from '../../projections/integrations.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { findTenant } from '../../projections/tenants.ts'
import { type CreditBuyer, creditFor } from '../commands/meters/credited-license.ts'
import type { Origin } from '../commands/origin.ts'
import { changeSale } from '../commands/sales.ts'
import type { CreditPack } from '../domain/integrations/credit-packs.ts'
import { packOf } from '../domain/integrations/integration.ts'
import { keyTypeSoldAs } from '../domain/integrations/mapping.ts'
import type { Provider } from '../domain/integrations/provider.ts'
import type { SaleTerms } from '../domain/licenses/following.ts'
import { maxSeats, maxSold } from '../domain/licenses/issue.ts'
import type { KeyType } from '../domain/products/key-type.ts'
import { findKeyType } from '../domain/products/product.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ParkedReason, SoldItem } from '../domain/sales/events.ts'
import { isItem, itemsOf, type Resolution, type SaleItem } from '../domain/sales/items.ts'
import type { KnownSale, SaleCommand } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'

/** @param buyer whose license a bought credit is for */
type Bought = { tenantId: string; provider: Provider; buyer: CreditBuyer } & Pick<
  SaleItem,
  'sold' | 'quantity' | 'priceId'
>

/** What to issue for a purchase, or why nothing can be issued now; with the product, if it is known. */
export type Resolved = { resolution: Resolution; product: PresentProduct | undefined }

/**
 * Finds what to issue for each item of a purchase, in their order.
 * @returns the product of the first item that can be licensed besides
 * @throws Refusal `tenant_not_found`
 */
export async function resolveItems(
  ports: Ports<'db' | 'findProduct' | 'now'>,
  sale: Pick<Bought, 'tenantId' | 'provider' | 'buyer'>,
  items: readonly Omit<Bought, 'tenantId' | 'provider' | 'buyer'>[],
): Promise<{ resolutions: Resolution[]; first: Resolved }> {
  const [one, ...others] = await Promise.all(items.map((item) => resolveSale(ports, { ...sale, ...item })))
  if (!one) throw new Error('a sale has an item')
  const all = [one, ...others]
  const first = all.find(({ resolution }) => !('reason' in resolution)) ?? one
  return { resolutions: all.map(({ resolution }) => resolution), first }
}

/** Finds what to issue for a purchase. @throws Refusal `tenant_not_found` */
async function resolveSale(ports: Ports<'db' | 'findProduct' | 'now'>, bought: Bought): Promise<Resolved> {
  const { tenantId, sold, quantity } = bought
  const [tenant, named] = await Promise.all([findTenant(ports.db, tenantId), namedBy(ports, bought)])
  if (!tenant) throw new Refusal('tenant_not_found')
  if (!named) {
    const detail = 'providerProduct' in sold ? sold.providerProduct : ''
    return { resolution: parked('no_mapping', detail), product: undefined }
  }
  const product = await ports.findProduct(tenantId, named.productId)
  if (!product) return { resolution: parked('product_not_found', named.productId), product }
  if (tenant.status !== 'active') {
    return { resolution: parked(`tenant_${tenant.status}`, `the tenant is ${tenant.status}`), product }
  }
  if ('pack' in named)
    return { resolution: await creditFor(ports, product, named.pack, quantity, bought.buyer), product }
  const keyType = named.keyTypeId === null ? product.keyTypes[0] : findKeyType(product, named.keyTypeId)
  if (!keyType) return { resolution: parked('key_type_not_found', named.keyTypeId ?? ''), product }
  return { resolution: resolutionAs(product, keyType, quantity), product }
}

/** A product, and what of it was sold: a key type, null for its first, or credits for a meter. */
type Named = { productId: string } & ({ keyTypeId: string | null } | { pack: CreditPack })

/** The product that an item names itself, or that its id is mapped to, or else its price. */
async function namedBy(
  ports: Ports<'db'>,
  { tenantId, provider, sold, priceId }: Bought,
): Promise<Named | undefined> {
  if ('productId' in sold) return sold
  const named = await mappedTo(ports, tenantId, provider, sold.providerProduct)
  return named ?? (priceId === undefined ? undefined : mappedTo(ports, tenantId, provider, priceId))
}

/** What the tenant has mapped a provider's id to. */
async function mappedTo(
  ports: Ports<'db'>,
  tenantId: string,
  provider: Provider,
  providerProduct: string,
): Promise<Named | undefined> {
  const integration = await findIntegration(ports.db, tenantId, provider)
  for (const { productId, mapping } of integration?.mappings ?? []) {
    const keyTypeId = keyTypeSoldAs(mapping, providerProduct)
    if (keyTypeId !== undefined) return { productId, keyTypeId }
  }
  const credits = integration && packOf(integration, providerProduct)
  if (credits) return credits
  if (provider === 'stripe') {
    for (const { productId, prices } of await listPricedProducts(ports.db, tenantId)) {
      const [keyTypeId] = Object.entries(prices).find(([, priceId]) => priceId === providerProduct) ?? []
      if (keyTypeId !== undefined) return { productId, keyTypeId }
    }
  }
  return undefined
}

/** What to issue for so many of a key type. */
export function resolutionAs({ productId }: PresentProduct, keyType: KeyType, quantity: number): Resolution {
  const most = maxSold(keyType)
  const exceeded = most !== null && quantity > most ? { maxSold: most } : {}
  return { productId, keyTypeId: keyType.keyTypeId, ...exceeded }
}

const parked = (reason: ParkedReason, detail: string) => ({ reason, detail: detail.slice(0, 1000) || reason })

/** As {@link resolveItems}, for a sale that was received before. */
export const resolveKnown = (ports: Ports<'db' | 'findProduct' | 'now'>, sale: KnownSale) => {
  const { tenantId, provider, customer, creditLicenseId: licenseId, test } = sale
  const buyer = { subjectId: customer?.subjectId, licenseId, test }
  return resolveItems(ports, { tenantId, provider, buyer }, itemsOf(sale))
}

/** Maps the items without a license again: a mapping, product or key type may have been added since. */
export async function mapAgain(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now'>,
  loaded: Loaded<KnownSale>,
  origin: Origin,
): Promise<Loaded<KnownSale>> {
  const { resolutions } = await resolveKnown(ports, loaded.state)
  const resolved = (at: string): SaleCommand => ({ type: 'ResolveSale', resolutions, at })
  return (await changeSale(ports, loaded.state, origin, resolved, loaded)).sale
}

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
  const { onExpiry, graceSeconds } = keyType
  const terms = { keyTypeId: keyType.keyTypeId, quantity: units, deviceLimit, onExpiry, graceSeconds }
  return { terms, unmapped }
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
  if (!product || named?.productId !== product.productId || 'pack' in named) return undefined
  const keyType = named.keyTypeId === null ? product.keyTypes[0] : findKeyType(product, named.keyTypeId)
  return keyType?.keyTypeId
}

const nameOf = (sold: SoldItem): string =>
  'providerProduct' in sold ? sold.providerProduct : `${sold.productId} ${sold.keyTypeId ?? ''}`.trim()
