import type { Pool } from 'pg'
import { hasStatus, type LicenseFilter } from './queries.ts'

/** How many licenses a filter finds, counted no further than asked. */
export async function countLicenses(
  db: Pool,
  tenantId: string,
  filter: LicenseFilter,
  now: string,
  most: number,
): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) from (
       select from licenses l
       where l.tenant_id = $1
         and ($2::text is null or l.product_id = $2)
         and ($4::text is null or ${hasStatus} = $4)
       limit $5
     ) as found`,
    [tenantId, filter.productId ?? null, now, filter.status ?? null, most],
  )
  return Number(rows[0]?.count ?? 0n)
}
