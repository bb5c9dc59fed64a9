import type { Pool } from 'pg'
import type { KnownSale } from '../../src/domain/sales/sale.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'

/** Whose purchases are meant: what a person paid for, or what brought the licenses that an organization has. */
export type PurchasesOf = { tenantId: string } & ({ subjectId: string } | { customerId: string })

/** Of a gift, it is the giver who paid; its amount is not for the one who was given it. */
const boughtBy = `(s.giver_id = $2 or (s.giver_id is null and s.subject_id = $2))`

/** By the licenses and not by the address, at which its buyer may have bought something else for themselves. */
const broughtLicenses = `s.giver_id is null
  and s.license_ids && array(select license_id from licenses where tenant_id = $1 and customer_id = $2)`

const wanted = (of: PurchasesOf): { condition: string; values: [string, string] } =>
  'subjectId' in of
    ? { condition: boughtBy, values: [of.tenantId, of.subjectId] }
    : { condition: broughtLicenses, values: [of.tenantId, of.customerId] }

/** Newest first; ties by id, descending. */
export async function listPurchases(
  db: Pool,
  of: PurchasesOf,
  { after, limit }: Pick<Keyset, 'after' | 'limit'>,
): Promise<PageOf<KnownSale>> {
  const { condition, values } = wanted(of)
  const { by, past } = orderOf(undefined, 'received_at', 'id')
  const { rows } = await db.query<{ state: KnownSale }>(
    `select state from sales s where tenant_id = $1 and ${condition}
       and ($3::timestamptz is null or ${past('$3', '$4')})
     order by ${by} limit $5`,
    [...values, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(
    rows.map(({ state }) => state),
    limit,
    ({ receivedAt, id }) => ({ createdAt: receivedAt, id }),
  )
}

/** One of the purchases; undefined for any other sale. */
export async function findPurchase(db: Pool, of: PurchasesOf, id: string): Promise<KnownSale | undefined> {
  const { condition, values } = wanted(of)
  const { rows } = await db.query<{ state: KnownSale }>(
    `select state from sales s where tenant_id = $1 and ${condition} and id = $3`,
    [...values, id],
  )
  return rows[0]?.state
}
