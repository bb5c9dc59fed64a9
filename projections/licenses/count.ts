import type { Pool } from 'pg'
import { type LicenseFilter, partsMatching, Values } from './filter.ts'

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
  const values = new Values()
  const { parts } = partsMatching(tenantId, filter, now, values)
  const counts = parts.map(({ from, where }) => `(select count(*) from ${from} where ${where})`)
  const { rows } = await db.query<{ count: bigint }>(`select ${counts.join(' + ')} as count`, values.all)
  return Number(rows[0]?.count ?? 0n)
}
