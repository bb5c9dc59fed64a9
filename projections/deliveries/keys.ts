import type { Pool } from 'pg'

/** Whether a delivery that carries the key of license `l` is still to come: to its vendor or to its customer. */
const isNeeded = `(
  exists (
    select from owed_deliveries o where o.license_id = l.license_id and o.event = 'license.created'
  )
  or exists (
    select from deliveries d
    where d.license_id = l.license_id and d.event = 'license.created' and d.status = 'pending'
  )
)`

/** Whether the key of a license has to be kept no longer. One that the read models do not show yet is needed. */
export async function isKeySpent(db: Pool, licenseId: string): Promise<boolean> {
  const { rows } = await db.query<{ spent: boolean }>({
    name: 'is-key-spent',
    text: `select not ${isNeeded} as spent from licenses l where l.license_id = $1`,
    values: [licenseId],
  })
  return rows[0]?.spent ?? false
}

/** Licenses whose key is still kept, with nothing left that it is kept for. */
export async function listSpentKeys(
  db: Pool,
  prefix: string,
): Promise<{ tenantId: string; licenseId: string }[]> {
  const { rows } = await db.query<{ tenantId: string; licenseId: string }>(
    `select l.tenant_id as "tenantId", l.license_id as "licenseId"
     from vault.secrets s
       join licenses l on l.tenant_id = s.tenant_id and l.license_id = substr(s.name, length($1) + 1)
     where starts_with(s.name, $1) and not ${isNeeded}
     limit 1000`,
    [prefix],
  )
  return rows
}
