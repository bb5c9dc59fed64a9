import type { Pool } from 'pg'
import type { KeyHashes } from '../../src/domain/licenses/keys.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { type LicenseRow, licenseFrom } from '../licenses/rows.ts'

/** A license that has the key, or had it before a remint. */
type KeyHolder = { license: IssuedLicense; current: boolean }

const withoutSeats = (row: LicenseRow): IssuedLicense => licenseFrom(row, [])

/**
 * Finds the licenses that have or had a key, in each product the one that a validate finds. Joins the tenant's products,
 * since the index begins with them.
 */
export async function findLicensesOfKey(
  db: Pool,
  tenantId: string,
  { keyHash, keyedHash }: KeyHashes,
): Promise<KeyHolder[]> {
  const { rows } = await db.query<LicenseRow & { current: boolean }>({
    name: 'search-key',
    text: `select l.*, k.current
           from products p
             cross join lateral (
               select license_id, current from license_keys
               where tenant_id = p.tenant_id and product_id = p.product_id and key_hash in ($2, $3)
               order by key_hash desc limit 1
             ) k
             join licenses l on l.license_id = k.license_id
           where p.tenant_id = $1`,
    values: [tenantId, keyHash, keyedHash],
  })
  return rows.map((row) => ({ license: withoutSeats(row), current: row.current }))
}

/** Finds licenses that have or had a key with one of these endings, newest id first. */
export async function findLicensesByEnding(
  db: Pool,
  tenantId: string,
  endings: readonly string[],
  most: number,
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<LicenseRow>({
    name: 'search-ending',
    text: `select l.* from licenses l
           where l.license_id in (
             select k.license_id from unnest($2::text[]) as q (ending), lateral (
               select license_id from license_keys
               where tenant_id = $1 and ending = q.ending order by license_id desc limit $3
             ) k
           )
           order by l.license_id desc limit $3`,
    values: [tenantId, endings, most],
  })
  return rows.map(withoutSeats)
}

/** Finds licenses that were issued to a person or are linked to one of their customers, newest first. */
export async function findLicensesOfPerson(
  db: Pool,
  tenantId: string,
  subjectId: string,
  most: number,
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<LicenseRow>({
    name: 'search-person',
    text: `select l.* from licenses l
           where l.license_id in (
             (select license_id from licenses
              where tenant_id = $1 and subject_id = $2 order by created_at desc, license_id desc limit $3)
             union all
             (select o.license_id from customers c, lateral (
                select license_id from licenses
                where customer_id = c.customer_id order by created_at desc, license_id desc limit $3
              ) o
              where c.tenant_id = $1 and c.subject_id = $2)
           ) and l.tenant_id = $1
           order by l.created_at desc, l.license_id desc limit $3`,
    values: [tenantId, subjectId, most],
  })
  return rows.map(withoutSeats)
}

/** Finds licenses that were issued to one of these people, newest first. */
export async function findLicensesOfPeople(
  db: Pool,
  tenantId: string,
  subjectIds: readonly string[],
  most: number,
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<LicenseRow>({
    name: 'search-people',
    text: `select l.* from unnest($2::text[]) as s (subject_id), lateral (
             select * from licenses where tenant_id = $1 and subject_id = s.subject_id
             order by created_at desc, license_id desc limit $3
           ) l
           order by l.created_at desc, l.license_id desc limit $3`,
    values: [tenantId, subjectIds, most],
  })
  return rows.map(withoutSeats)
}

/** Finds licenses that are linked to one of these customers, newest first. */
export async function findLicensesOfCustomers(
  db: Pool,
  tenantId: string,
  customerIds: readonly string[],
  most: number,
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<LicenseRow>({
    name: 'search-customers',
    text: `select l.* from unnest($2::text[]) as c (customer_id), lateral (
             select * from licenses where customer_id = c.customer_id
             order by created_at desc, license_id desc limit $3
           ) l
           where l.tenant_id = $1
           order by l.created_at desc, l.license_id desc limit $3`,
    values: [tenantId, customerIds, most],
  })
  return rows.map(withoutSeats)
}

/** Finds licenses that a request has changed, newest first. */
export async function findLicensesOfRequest(
  db: Pool,
  tenantId: string,
  requestId: string,
  most: number,
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<LicenseRow>({
    name: 'search-request',
    text: `select l.* from licenses l
           where l.license_id in (select license_id from license_history where request_id = $2) and l.tenant_id = $1
           order by l.created_at desc, l.license_id desc limit $3`,
    values: [tenantId, requestId, most],
  })
  return rows.map(withoutSeats)
}

export async function findLicensesByIds(
  db: Pool,
  tenantId: string,
  licenseIds: readonly string[],
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<LicenseRow>({
    name: 'search-license-ids',
    text: 'select * from licenses where license_id = any($2) and tenant_id = $1',
    values: [tenantId, licenseIds],
  })
  return rows.map(withoutSeats)
}

/** The last code point: sorts after every other one, byte by byte, so it ends the range of a beginning. */
export const lastCharacter = '\u{10ffff}'
