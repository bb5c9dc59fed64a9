import type { Pool } from 'pg'
import { findLicenses, type LicenseEntry } from './queries.ts'
import { isToLink } from './rows.ts'

/** The oldest licenses whose customer is not known yet, in any order. */
export async function listLicensesToLink(db: Pool, tenantId: string, most: number): Promise<LicenseEntry[]> {
  const { rows } = await db.query<{ id: string }>(
    `select license_id as id from licenses where tenant_id = $1 and ${isToLink}
     order by created_at, license_id limit $2`,
    [tenantId, most],
  )
  return findLicenses(
    db,
    tenantId,
    rows.map(({ id }) => id),
  )
}

export async function countLicensesToLink(db: Pool, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count from licenses where tenant_id = $1 and ${isToLink}`,
    [tenantId],
  )
  return Number(rows[0]?.count ?? 0n)
}
