import type { Pool } from 'pg'
import type { KnownSale } from '../../src/domain/sales/sale.ts'

/**
 * Whether the license of sale `s` has no known holder: the provider named no buyer, and the license has no customer. A
 * sale with an erased buyer does not match.
 */
export const needsHolder = `s.subject_id is null and s.status = 'licensed' and exists (
  select from licenses l where l.license_id = any(s.license_ids) and l.customer_id is null
)`

/** The ids of those sales whose license has no known holder. */
export async function salesNeedingHolder(
  db: Pool,
  tenantId: string,
  sales: readonly KnownSale[],
): Promise<ReadonlySet<string>> {
  const unnamed = sales.filter(({ customer, status }) => customer === null && status === 'licensed')
  if (unnamed.length === 0) return new Set()
  const { rows } = await db.query<{ id: string }>({
    name: 'sales-needing-holder',
    text: `select s.id from sales s where s.tenant_id = $1 and s.id = any($2) and ${needsHolder}`,
    values: [tenantId, unnamed.map(({ id }) => id)],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Counts a tenant's sales whose license has no known holder. */
export async function countSalesNeedingHolder(db: Pool, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-sales-needing-holder',
    text: `select count(*) as count from sales s where s.tenant_id = $1 and ${needsHolder}`,
    values: [tenantId],
  })
  return Number(rows[0]?.count ?? 0n)
}
