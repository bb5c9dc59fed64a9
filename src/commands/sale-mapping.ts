import { findIntegration, listPricedProducts } from '../../projections/integrations/queries.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { findTenant } from '../../projections/tenants/queries.ts'
import { keyTypeSoldAs } from '../domain/integration/mapping.ts'
import type { Provider } from '../domain/integration/provider.ts'
import { type Terms, termsOf } from '../domain/license/issue.ts'
import type { KeyType } from '../domain/product/key-type.ts'
import { findKeyType } from '../domain/product/product.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ParkedReason, SoldItem } from '../domain/sale/events.ts'
import type { Resolution } from '../domain/sale/sale.ts'
import type { Services } from './services.ts'

type Bought = {
  tenantId: string
  provider: Provider
  sold: SoldItem
  quantity: number
  paidUntil: string | null
}

/** What a purchase is to be licensed as; the product also when it cannot be licensed at this moment. */
export type Resolved = { resolution: Resolution; product: PresentProduct | undefined }

/** @throws Refusal `tenant_not_found`: there is nobody to keep the sale for */
export async function resolveSale(services: Services, bought: Bought, at: string): Promise<Resolved> {
  const { tenantId, provider, sold } = bought
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
  const terms = termsOfSale(keyType, bought, at)
  if ('reason' in terms) return { resolution: terms, product }
  return { resolution: { productId: product.productId, keyTypeId: keyType.keyTypeId }, product }
}

const parked = (reason: ParkedReason, detail: string) => ({ reason, detail: detail.slice(0, 1000) || reason })

async function mappedTo(
  services: Services,
  tenantId: string,
  provider: Provider,
  providerProduct: string,
): Promise<{ productId: string; keyTypeId: string | null } | undefined> {
  if (provider === 'stripe') {
    for (const { productId, prices } of await listPricedProducts(services.db, tenantId)) {
      const [keyTypeId] = Object.entries(prices).find(([, priceId]) => priceId === providerProduct) ?? []
      if (keyTypeId !== undefined) return { productId, keyTypeId }
    }
    return undefined
  }
  const integration = await findIntegration(services.db, tenantId, provider)
  for (const { productId, mapping } of integration?.mappings ?? []) {
    const keyTypeId = keyTypeSoldAs(mapping, providerProduct)
    if (keyTypeId !== undefined) return { productId, keyTypeId }
  }
  return undefined
}

/**
 * The terms of the license for a purchase: its key type's own, but what is paid for longer runs as long as it is paid.
 * Why there can be none, when the key type is not sold so.
 */
export function termsOfSale(
  keyType: KeyType,
  { quantity, paidUntil }: Pick<Bought, 'quantity' | 'paidUntil'>,
  at: string,
): Terms | { reason: ParkedReason; detail: string } {
  try {
    const terms = termsOf(keyType, { quantity }, at)
    const isLonger = terms.expiresAt !== null && paidUntil !== null && paidUntil > terms.expiresAt
    return isLonger ? { ...terms, expiresAt: paidUntil } : terms
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const reason = error.code === 'quantity_too_large' ? error.code : 'quantity_not_allowed'
    return parked(reason, `${quantity} of ${keyType.keyTypeId}`)
  }
}
