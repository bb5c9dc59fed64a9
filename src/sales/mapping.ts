import { findIntegration, listPricedProducts } from '../../projections/integrations/queries.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { findTenant } from '../../projections/tenants/queries.ts'
import type { Origin } from '../commands/origin.ts'
import { changeSale } from '../commands/sales.ts'
import { keyTypeSoldAs } from '../domain/integrations/mapping.ts'
import type { Provider } from '../domain/integrations/provider.ts'
import { maxSold } from '../domain/licenses/issue.ts'
import type { KeyType } from '../domain/products/key-type.ts'
import { findKeyType } from '../domain/products/product.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ParkedReason, SoldItem } from '../domain/sales/events.ts'
import type { KnownSale, Resolution, SaleCommand } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'

type Bought = { tenantId: string; provider: Provider; sold: SoldItem; quantity: number }

/** What to issue for a purchase, or why nothing can be issued now; with the product, if it is known. */
export type Resolved = { resolution: Resolution; product: PresentProduct | undefined }

/** Finds what to issue for a purchase. @throws Refusal `tenant_not_found` */
export async function resolveSale(services: Ports<'db' | 'findProduct'>, bought: Bought): Promise<Resolved> {
  const { tenantId, provider, sold, quantity } = bought
  const [tenant, named] = await Promise.all([
    findTenant(services.db, tenantId),
    'productId' in sold ? sold : mappedTo(services, tenantId, provider, sold.providerProduct),
  ])
  if (!tenant) throw new Refusal('tenant_not_found')
  if (!named) {
    const detail = 'providerProduct' in sold ? sold.providerProduct : ''
    return { resolution: parked('no_mapping', detail), product: undefined }
  }
  const product = await services.findProduct(tenantId, named.productId)
  if (!product) return { resolution: parked('product_not_found', named.productId), product }
  if (tenant.status !== 'active') {
    return { resolution: parked(`tenant_${tenant.status}`, `the tenant is ${tenant.status}`), product }
  }
  const keyType = named.keyTypeId === null ? product.keyTypes[0] : findKeyType(product, named.keyTypeId)
  if (!keyType) return { resolution: parked('key_type_not_found', named.keyTypeId ?? ''), product }
  return { resolution: resolutionAs(product, keyType, quantity), product }
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
  services: Ports<'db'>,
  tenantId: string,
  provider: Provider,
  providerProduct: string,
): Promise<{ productId: string; keyTypeId: string | null } | undefined> {
  const integration = await findIntegration(services.db, tenantId, provider)
  for (const { productId, mapping } of integration?.mappings ?? []) {
    const keyTypeId = keyTypeSoldAs(mapping, providerProduct)
    if (keyTypeId !== undefined) return { productId, keyTypeId }
  }
  if (provider === 'stripe') {
    for (const { productId, prices } of await listPricedProducts(services.db, tenantId)) {
      const [keyTypeId] = Object.entries(prices).find(([, priceId]) => priceId === providerProduct) ?? []
      if (keyTypeId !== undefined) return { productId, keyTypeId }
    }
  }
  return undefined
}

/** Maps a parked sale again: a mapping, product or key type may have been added since. */
export async function mapAgain(
  services: Ports<'db' | 'execute' | 'findProduct' | 'now'>,
  loaded: Loaded<KnownSale>,
  origin: Origin,
): Promise<Loaded<KnownSale>> {
  const { resolution } = await resolveSale(services, loaded.state)
  const resolved = (at: string): SaleCommand => ({ type: 'ResolveSale', resolution, at })
  return (await changeSale(services, loaded.state, origin, resolved, loaded)).sale
}
