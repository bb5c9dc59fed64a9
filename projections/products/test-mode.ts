import type { Pool } from 'pg'

/** Whether any product of the tenant is in test mode. */
export async function hasTestMode(db: Pool, tenantId: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (
       select from products
       where tenant_id = $1 and (state->'settings'->'testMode'->>'enabled')::boolean
     ) as found`,
    [tenantId],
  )
  return rows[0]?.found ?? false
}
