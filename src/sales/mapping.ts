import { findIntegration, listPricedProducts } from '../../projections/integrations.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { findTenant } from '../../projections/tenants.ts'
import type { Origin } from '../commands/origin.ts'
import { changeSale } from '../commands/sales.ts'
import { keyTypeSoldAs } from '../domain/integrations/mapping.ts'
import type { Provider } from '../domain/integrations/provider.ts'
import { maxSold } from '../domain/licenses/issue.ts'
import type { KeyType } from '../domain/products/key-type.ts'
import { findKeyType } from '../domain/products/product.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ParkedReason } from '../domain/sales/events.ts'
import { itemsOf, type Resolution, type SaleItem } from '../domain/sales/items.ts'
import type { KnownSale, SaleCommand } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'

type Bought = { tenantId: string; provider: Provider } & Pick<SaleItem, 'sold' | 'quantity' | 'priceId'>

/** What to issue for a purchase, or why nothing can be issued now; with the product, if it is known. */
export type Resolved = { resolution: Resolution; product: PresentProduct | undefined }

/**
 * Finds what to issue for each item of a purchase, in their order.
 * @returns the product of the first item that can be licensed besides
 * @throws Refusal `tenant_not_found`
 */
export async function resolveItems(
  ports: Ports<'db' | 'findProduct'>,
  { tenantId, provider }: Pick<Bought, 'tenantId' | 'provider'>,
  items: readonly Omit<Bought, 'tenantId' | 'provider'>[],
): Promise<{ resolutions: Resolution[]; first: Resolved }> {
  const [one, ...others] = await Promise.all(
    items.map((item) => resolveSale(ports, { tenantId, provider, ...item })),
  )
  if (!one) throw new Error('a sale has an item')
  const all = [one, ...others]
  const first = all.find(({ resolution }) => !('reason' in resolution)) ?? one
  return { resolutions: all.map(({ resolution }) => resolution), first }
}

/** Finds what to issue for a purchase. @throws Refusal `tenant_not_found` */
async function resolveSale(ports: Ports<'db' | 'findProduct'>, bought: Bought): Promise<Resolved> {
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
  const keyType = named.keyTypeId === null ? product.keyTypes[0] : findKeyType(product, named.keyTypeId)
  if (!keyType) return { resolution: parked('key_type_not_found', named.keyTypeId ?? ''), product }
  return { resolution: resolutionAs(product, keyType, quantity), product }
}

/** The product that an item names itself, or that its id is mapped to, or else its price. */
async function namedBy(
  ports: Ports<'db'>,
  { tenantId, provider, sold, priceId }: Bought,
): Promise<{ productId: string; keyTypeId: string | null } | undefined> {
  if ('productId' in sold) return sold
  const named = await mappedTo(ports, tenantId, provider, sold.providerProduct)
  return named ?? (priceId === undefined ? undefined : mappedTo(ports, tenantId, provider, priceId))
}

/** What to issue for so many of a key type. */
export function resolutionAs({ productId }: PresentProduct, keyType: KeyType, quantity: number): Resolution {
  const most = maxSold(keyType)
  const exceeded = most !== null && quantity > most ? { maxSold: most } : {}
  return { productId, keyTypeId: keyType.keyTypeId, ...exceeded }
}

const parked = (reason: ParkedReason, detail: string) => ({ reason, detail: detail.slice(0, 1000) || reason })

/** The product and key type that the tenant has mapped a provider's id to; a null key type stands for the product's first. */
export async function mappedTo(
  ports: Ports<'db'>,
  tenantId: string,
  provider: Provider,
  providerProduct: string,
): Promise<{ productId: string; keyTypeId: string | null } | undefined> {
  const integration = await findIntegration(ports.db, tenantId, provider)
  for (const { productId, mapping } of integration?.mappings ?? []) {
    const keyTypeId = keyTypeSoldAs(mapping, providerProduct)
    if (keyTypeId !== undefined) return { productId, keyTypeId }
  }
  if (provider === 'stripe') {
    for (const { productId, prices } of await listPricedProducts(ports.db, tenantId)) {
      const [keyTypeId] = Object.entries(prices).find(([, priceId]) => priceId === providerProduct) ?? []
      if (keyTypeId !== undefined) return { productId, keyTypeId }
    }
  }
  return undefined
}

/** Maps the items without a license again: a mapping, product or key type may have been added since. */
export async function mapAgain(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now'>,
  loaded: Loaded<KnownSale>,
  origin: Origin,
): Promise<Loaded<KnownSale>> {
  const { resolutions } = await resolveItems(ports, loaded.state, itemsOf(loaded.state))
  const resolved = (at: string): SaleCommand => ({ type: 'ResolveSale', resolutions, at })
  return (await changeSale(ports, loaded.state, origin, resolved, loaded)).sale
}
