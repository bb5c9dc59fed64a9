import type { Pool } from 'pg'

/**
 * The licenses of a tenant that have or had any of these keys. Joins the tenant's products, since the index on keys
 * begins with tenant and product.
 * @returns license ids by key hash; a license whose import was taken back is left out
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
             join licenses l using (license_id)
           where p.tenant_id = $1 and k.key_hash = any($2) and l.taken_back_at is null`,
    values: [tenantId, keyHashes],
  })
  return new Map(rows.map((row) => [row.key_hash, row.license_id]))
}

/** The ids of those licenses whose import was taken back. */
export async function findTakenBack(db: Pool, licenseIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ license_id: string }>({
    name: 'find-taken-back',
    text: 'select license_id from licenses where license_id = any($1) and taken_back_at is not null',
    values: [licenseIds],
  })
  return new Set(rows.map(({ license_id }) => license_id))
}

/** Where an imported license came from. */
export type ImportMark = { productId: string; externalId: string | null }

/** The marks of those of the licenses that were imported, by license id. */
export async function findImportMarks(
  db: Pool,
  tenantId: string,
  licenseIds: readonly string[],
): Promise<Map<string, ImportMark>> {
  const { rows } = await db.query<{ license_id: string; product_id: string; external_id: string | null }>({
    name: 'find-import-marks',
    text: `select license_id, product_id, metadata ->> 'externalId' as external_id from licenses
           where tenant_id = $1 and license_id = any($2) and source = 'import'`,
    values: [tenantId, licenseIds],
  })
  return new Map(
    rows.map((row) => [row.license_id, { productId: row.product_id, externalId: row.external_id }]),
  )
}
