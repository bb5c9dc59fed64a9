import type { Pool } from 'pg'
import type { KeptKeyPlace } from '../../src/domain/licenses/kept-key.ts'

/**
 * Lists kept keys that were not checked yet, with whether their license has that key and that holder. A key is kept before
 * the event that issues it, so those of the last ten minutes are not listed.
 */
export async function listUnsettledKeys(
  db: Pool,
  { except, most }: { except: readonly string[]; most: number },
): Promise<(KeptKeyPlace & { isCurrent: boolean })[]> {
  const { rows } = await db.query<KeptKeyPlace & { isCurrent: boolean }>(
    `select k.tenant_id as "tenantId", k.subject_id as "subjectId", k.license_id as "licenseId",
       k.key_hash as "keyHash", l.license_id is not null as "isCurrent"
     from vault.kept_keys k
       left join licenses l on l.license_id = k.license_id and l.tenant_id = k.tenant_id
         and l.key_hash = k.key_hash and l.subject_id = k.subject_id and l.email is not null
     where not k.settled and k.created_at < now() - interval '10 minutes' and k.license_id <> all($1)
     order by k.created_at
     limit $2`,
    [except, most],
  )
  return rows
}

/** Lists products that keep no keys, for which keys are left from the time when they did. */
export async function listProductsWithLeftKeys(
  db: Pool,
  { except, most }: { except: readonly string[]; most: number },
): Promise<{ tenantId: string; productId: string }[]> {
  const { rows } = await db.query<{ tenantId: string; productId: string }>(
    `select p.tenant_id as "tenantId", p.product_id as "productId"
     from products p
     where not p.key_recovery and p.tenant_id || '.' || p.product_id <> all($1)
       and exists (select from vault.kept_keys k where (k.tenant_id, k.product_id) = (p.tenant_id, p.product_id))
     limit $2`,
    [except, most],
  )
  return rows
}
