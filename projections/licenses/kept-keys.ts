import type { Pool } from 'pg'
import type { KeptKeyPlace, KeptPeriod } from '../../src/domain/licenses/keys.ts'

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

/** Lists products for which keys are kept from an earlier period, or from before keys had a period. */
export async function listProductsWithLeftKeys(
  db: Pool,
  { except, most }: { except: readonly string[]; most: number },
): Promise<KeptPeriod[]> {
  const { rows } = await db.query<KeptPeriod>(
    `select p.tenant_id as "tenantId", p.product_id as "productId", p.key_period as period, p.key_recovery as keeps
     from products p
     where p.tenant_id || '.' || p.product_id <> all($1)
       and (exists (
           select from vault.kept_keys k
           where k.tenant_id = p.tenant_id and k.product_id = p.product_id and k.period < p.key_period
         ) or exists (
           select from vault.kept_keys k
           where k.tenant_id = p.tenant_id and k.product_id = p.product_id and k.period is null
         ))
     limit $2`,
    [except, most],
  )
  return rows
}
