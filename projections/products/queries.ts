import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KnownIntegration } from '../../src/domain/integrations/integration.ts'
import type { Product } from '../../src/domain/products/product.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'

export type PresentProduct = Extract<Product, { status: 'present' }>

export type FindProduct = (tenantId: string, productId: string) => Promise<PresentProduct | undefined>

/** Finds products by id. Concurrent lookups share one query, since every mint needs a product. */
export function createProductLookup(db: Pool): FindProduct {
  type ProductLookupParams = { tenantId: string; productId: string }
  const find = coalesce<ProductLookupParams, PresentProduct | undefined>(async (lookups) => {
    const { rows } = await db.query<{ tenant_id: string; product_id: string; state: PresentProduct }>({
      name: 'find-products',
      text: `select tenant_id, product_id, state from products
             where (tenant_id, product_id) in (select * from unnest($1::text[], $2::text[]))`,
      values: [lookups.map(({ tenantId }) => tenantId), lookups.map(({ productId }) => productId)],
    })
    // Neither id can contain a dot.
    const found = new Map(rows.map((row) => [`${row.tenant_id}.${row.product_id}`, row.state]))
    return lookups.map(({ tenantId, productId }) => found.get(`${tenantId}.${productId}`))
  })
  return (tenantId, productId) => find({ tenantId, productId })
}

export async function countProducts(db: Pool, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>('select count(*) from products where tenant_id = $1', [
    tenantId,
  ])
  return Number(rows[0]?.count ?? 0n)
}

/**
 * The products that are mapped at a provider, and at Stripe those with a price too. Newest first; ties by id, descending.
 */
export async function listProductsSold(
  db: Pool,
  tenantId: string,
  { provider, mappings }: KnownIntegration,
): Promise<PresentProduct[]> {
  const { rows } = await db.query<{ state: PresentProduct }>(
    `select state from products
     where tenant_id = $1
       and (product_id = any($2) or ($3 and jsonb_path_exists(state, '$.keyTypes[*].price.priceId')))
     order by created_at desc, product_id desc`,
    [tenantId, mappings.map(({ productId }) => productId), provider === 'stripe'],
  )
  return rows.map(({ state }) => state)
}

/** By age; ties by id. */
export async function listProducts(
  db: Pool,
  tenantId: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<PresentProduct>> {
  const { by, past } = orderOf(order, 'created_at', 'product_id')
  const { rows } = await db.query<{ state: PresentProduct }>(
    `select state from products
     where tenant_id = $1 and ($2::timestamptz is null or ${past('$2', '$3')})
     order by ${by} limit $4`,
    [tenantId, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(
    rows.map(({ state }) => state),
    limit,
    ({ createdAt, productId }) => ({ createdAt, id: productId }),
  )
}
