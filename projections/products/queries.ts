import type { Pool } from 'pg'
import type { Product } from '../../src/domain/product/product.ts'
import { type Keyset, type PageOf, pageOf } from '../page.ts'

export type PresentProduct = Extract<Product, { status: 'present' }>

export async function findProduct(
  db: Pool,
  tenantId: string,
  productId: string,
): Promise<PresentProduct | undefined> {
  const { rows } = await db.query<{ state: PresentProduct }>({
    name: 'find-product',
    text: 'select state from products where tenant_id = $1 and product_id = $2',
    values: [tenantId, productId],
  })
  return rows[0]?.state
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
