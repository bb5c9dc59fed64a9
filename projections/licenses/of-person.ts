import type { Pool } from 'pg'
import { findLicense, findLicenses, type LicenseEntry } from './queries.ts'

/** The licenses that a person holds, those of customers that they are, and those of organizations that they are in. */
const own = `own as (
  select license_id, created_at from licenses where tenant_id = $1 and subject_id = $2
  union
  select l.license_id, l.created_at from customers c
    join licenses l on l.customer_id = c.customer_id and l.tenant_id = c.tenant_id
  where c.tenant_id = $1 and c.subject_id = $2
  union
  select l.license_id, l.created_at from people p
    join licenses l on l.customer_id = p.customer_id and l.tenant_id = p.tenant_id
  where p.tenant_id = $1 and p.subject_id = $2 and not p.removed
)`

/**
 * The licenses of a person, newest first.
 * @param after the id of a license of theirs; any other id leads to an empty page
 */
export async function listLicensesOfPerson(
  db: Pool,
  { tenantId, subjectId }: { tenantId: string; subjectId: string },
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ entries: LicenseEntry[]; next: string | null }> {
  const { rows } = await db.query<{ id: string }>({
    name: 'list-licenses-of-person',
    text: `with ${own} select license_id as id from own
           where $3::text is null
             or (created_at, license_id) < (select created_at, license_id from own where license_id = $3)
           order by created_at desc, license_id desc limit $4`,
    values: [tenantId, subjectId, after ?? null, limit + 1],
  })
  const shown = rows.slice(0, limit).map(({ id }) => id)
  const entries = await findLicenses(db, tenantId, shown)
  return { entries, next: rows.length > limit ? (shown.at(-1) ?? null) : null }
}

/** @param mayChange false for a member of an organization, who only sees its licenses */
export type LicenseOfPerson = { entry: LicenseEntry; mayChange: boolean }

/** A license of a person; undefined for that of anybody else just as for one that does not exist. */
export async function findLicenseOfPerson(
  db: Pool,
  { tenantId, subjectId }: { tenantId: string; subjectId: string },
  licenseId: string,
): Promise<LicenseOfPerson | undefined> {
  const { rows } = await db.query<{ isOwn: boolean; role: string | null }>({
    name: 'find-license-of-person',
    text: `select coalesce(l.subject_id = $2, false) or exists (
               select from customers c
               where c.customer_id = l.customer_id and c.tenant_id = $1 and c.subject_id = $2
             ) as "isOwn",
             (select p.role from people p where p.customer_id = l.customer_id and p.tenant_id = $1
                and p.subject_id = $2 and not p.removed) as role
           from licenses l where l.tenant_id = $1 and l.license_id = $3`,
    values: [tenantId, subjectId, licenseId],
  })
  const [found] = rows
  if (!found || (!found.isOwn && found.role === null)) return undefined
  const entry = await findLicense(db, tenantId, licenseId)
  return entry && { entry, mayChange: found.isOwn || found.role === 'administrator' }
}

/**
 * The newest sealed address of a person who has a license, or is in an organization.
 * @param subjectId null for nobody, which takes the same work
 */
export async function findAddressOfPerson(
  db: Pool,
  tenantId: string,
  subjectId: string | null,
): Promise<{ subjectId: string; email: string; name: null } | undefined> {
  const { rows } = await db.query<{ email: string }>({
    name: 'find-address-of-person',
    text: `(select email from licenses where tenant_id = $1 and subject_id = $2 and email is not null
            order by created_at desc, license_id desc limit 1)
           union all
           (select c.state->>'email' from customers c
            where c.tenant_id = $1 and c.subject_id = $2 and c.state->>'email' is not null
              and exists (select from licenses l where l.customer_id = c.customer_id and l.tenant_id = $1)
            order by c.created_at desc, c.customer_id desc limit 1)
           union all
           (select email from people where tenant_id = $1 and subject_id = $2 and not removed
            order by added_at desc, person_id desc limit 1)
           limit 1`,
    values: [tenantId, subjectId],
  })
  const [row] = rows
  return row && subjectId !== null ? { subjectId, email: row.email, name: null } : undefined
}
