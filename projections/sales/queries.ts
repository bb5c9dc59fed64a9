import type { Pool } from 'pg'
import type { Provider } from '../../src/domain/integrations/provider.ts'
import type { KnownSale } from '../../src/domain/sales/sale.ts'
import { mergedInto } from '../merges.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'
import { needsHolder } from './holders.ts'

/** @param tenantId null for an operator on the host, who may read every tenant */
export async function findSale(
  db: Pool,
  tenantId: string | null,
  id: string,
): Promise<KnownSale | undefined> {
  const { rows } = await db.query<{ state: KnownSale }>({
    name: 'find-sale',
    text: 'select state from sales where id = $2 and ($1::text is null or tenant_id = $1)',
    values: [tenantId, id],
  })
  return rows[0]?.state
}

/** The sale that a license was issued for. It is in the read models before its license is issued. */
export async function findSaleOfLicense(
  db: Pool,
  tenantId: string,
  licenseId: string,
): Promise<KnownSale | undefined> {
  const { rows } = await db.query<{ state: KnownSale }>({
    name: 'find-sale-of-license',
    text: 'select state from sales where tenant_id = $1 and license_ids @> array[$2]',
    values: [tenantId, licenseId],
  })
  return rows[0]?.state
}

export type SaleFilter = {
  status?: KnownSale['status'] | undefined
  provider?: Provider | undefined
  productId?: string | undefined
  licenseId?: string | undefined
  /** The sales of the customer's licenses, and those to the same person, also of the customers that were merged into this one. */
  customer?: { customerId: string; subjectId: string } | undefined
  /** `holder`: only sales whose license has no known holder. */
  needs?: 'holder' | undefined
}

const ofCustomer = `and (
  s.subject_id = any(array_prepend($10, array(${mergedInto('subject_id', '$1', '$9')})))
  or s.license_ids && array(select license_id from licenses where tenant_id = $1 and customer_id = $9)
)`

/** Newest first; ties by id, descending. */
export async function listSales(
  db: Pool,
  tenantId: string,
  filter: SaleFilter,
  { after, limit, order }: Keyset,
): Promise<PageOf<KnownSale>> {
  const { by, past } = orderOf(order, 'received_at', 'id')
  const { rows } = await db.query<{ state: KnownSale }>(
    `select state from sales s
     where tenant_id = $1
       and ($2::text is null or status = $2)
       and ($3::text is null or provider = $3)
       and ($4::text is null or product_id = $4)
       and ($5::text is null or license_ids @> array[$5])
       ${filter.needs === 'holder' ? `and ${needsHolder}` : ''}
       ${filter.customer === undefined ? '' : ofCustomer}
       and ($6::timestamptz is null or ${past('$6', '$7')})
     order by ${by} limit $8`,
    [
      tenantId,
      filter.status ?? null,
      filter.provider ?? null,
      filter.productId ?? null,
      filter.licenseId ?? null,
      after?.createdAt ?? null,
      after?.id ?? null,
      limit + 1,
      ...(filter.customer === undefined ? [] : [filter.customer.customerId, filter.customer.subjectId]),
    ],
  )
  return pageOf(
    rows.map(({ state }) => state),
    limit,
    ({ receivedAt, id }) => ({ createdAt: receivedAt, id }),
  )
}

/** Counts a tenant's parked sales: paid, but without a license until someone maps the product. */
export async function countParkedSales(db: Pool, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-parked-sales',
    text: `select count(*) as count from sales where tenant_id = $1 and status = 'parked'`,
    values: [tenantId],
  })
  return Number(rows[0]?.count ?? 0n)
}

/** Parked sales that sold the same thing at the same provider, oldest first; and how many there are. */
export async function listParkedLike(
  db: Pool,
  { tenantId, provider, sold }: Pick<KnownSale, 'tenantId' | 'provider' | 'sold'>,
  most: number,
): Promise<{ items: KnownSale[]; count: number }> {
  const { rows } = await db.query<{ state: KnownSale; count: bigint }>(
    `select state, count(*) over () as count from sales
     where tenant_id = $1 and status = 'parked' and provider = $2 and state->'sold' = $3::jsonb
     order by received_at, id limit $4`,
    [tenantId, provider, JSON.stringify(sold), most],
  )
  return { items: rows.map(({ state }) => state), count: Number(rows[0]?.count ?? 0n) }
}

/** Unfinished sales that were received outside of the time range, oldest first. */
export async function listOpenSales(
  db: Pool,
  { from, until }: { from: string; until: string },
  { except, most }: { except: readonly string[]; most: number },
): Promise<KnownSale[]> {
  const { rows } = await db.query<{ state: KnownSale }>(
    `select state from sales where open and (received_at <= $1 or received_at > $2)
       and id <> all($3) order by received_at limit $4`,
    [from, until, except, most],
  )
  return rows.map(({ state }) => state)
}
