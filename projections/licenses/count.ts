import type { Pool } from 'pg'
import { hasStatus, type LicenseFilter } from './queries.ts'

/**
 * Counts all licenses that match a filter.
 * @param now the moment at which statuses are computed
 */
export async function countLicenses(
  db: Pool,
  tenantId: string,
  filter: LicenseFilter,
  now: string,
): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) from licenses l
     where l.tenant_id = $1
       and ($2::text is null or l.product_id = $2)
       and ($4::text is null or ${hasStatus} = $4)`,
    [tenantId, filter.productId ?? null, now, filter.status ?? null],
  )
  return Number(rows[0]?.count ?? 0n)
}
