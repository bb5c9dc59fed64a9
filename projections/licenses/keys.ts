import type { Pool } from 'pg'

/**
 * Which licenses of a tenant have, or once had, any of these keys; by key hash. A key is asked for in each of the
 * tenant's products, since the index begins with them.
 */
export async function findLicensesByKey(
  db: Pool,
  tenantId: string,
  keyHashes: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ key_hash: string; license_id: string }>({
    name: 'find-licenses-by-key',
    text: `select k.key_hash, k.license_id
           from products p join license_keys k using (tenant_id, product_id)
           where p.tenant_id = $1 and k.key_hash = any($2)`,
    values: [tenantId, keyHashes],
  })
  return new Map(rows.map((row) => [row.key_hash, row.license_id]))
}
