import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { Product } from '../../src/domain/products/product.ts'
import { type Keyset, type PageOf, pageOf } from '../page.ts'

export type PresentProduct = Extract<Product, { status: 'present' }>

export type FindProduct = (tenantId: string, productId: string) => Promise<PresentProduct | undefined>

/** Finds products by id; every mint asks, so look-ups of one moment share a query. */
export function createProductLookup(db: Pool): FindProduct {
  type Asked = { tenantId: string; productId: string }
  const find = coalesce<Asked, PresentProduct | undefined>(async (asked) => {
    const { rows } = await db.query<{ tenant_id: string; product_id: string; state: PresentProduct }>({
      name: 'find-products',
      text: `select tenant_id, product_id, state from products
             where (tenant_id, product_id) in (select * from unnest($1::text[], $2::text[]))`,
      values: [asked.map(({ tenantId }) => tenantId), asked.map(({ productId }) => productId)],
    })
    // Neither id can hold a dot.
    const found = new Map(rows.map((row) => [`${row.tenant_id}.${row.product_id}`, row.state]))
    return asked.map(({ tenantId, productId }) => found.get(`${tenantId}.${productId}`))
  })
  return (tenantId, productId) => find({ tenantId, productId })
}

export async function countProducts(db: Pool, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>('select count(*) from products where tenant_id = $1', [
    tenantId,
  ])
  return Number(rows[0]?.count ?? 0n)
}

/** Newest first, products of one moment by id. */
export async function listProducts(
  db: Pool,
  tenantId: string,
  { after, limit }: Keyset,
): Promise<PageOf<PresentProduct>> {
  const { rows } = await db.query<{ state: PresentProduct }>(
    `select state from products
     where tenant_id = $1 and ($2::timestamptz is null or (created_at, product_id) < ($2, $3))
     order by created_at desc, product_id desc limit $4`,
    [tenantId, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(
    rows.map(({ state }) => state),
    limit,
    ({ createdAt, productId }) => ({ createdAt, id: productId }),
  )
}
