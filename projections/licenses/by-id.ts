import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { type LicenseRow, licenseFrom } from './rows.ts'

/** A license and its revision, without its seats. */
type LicenseWithoutSeats = { license: IssuedLicense; revision: number }

/**
 * Finds licenses of any tenant, for expiries. Thousands of licenses can expire at midnight, so concurrent lookups share
 * one query.
 */
export function createLicenseLookup(
  db: Pool,
): (licenseId: string) => Promise<LicenseWithoutSeats | undefined> {
  return coalesce(async (licenseIds) => {
    const { rows } = await db.query<LicenseRow | { license_id: null }>({
      name: 'license-lookup',
      text: lookupSql,
      values: [licenseIds],
    })
    return rows.map((row) =>
      row.license_id === null ? undefined : { license: licenseFrom(row, []), revision: row.revision },
    )
  })
}

const lookupSql = `
  select l.* from unnest($1::text[]) with ordinality as q (license_id, ordinal)
  left join licenses l on l.license_id = q.license_id
  order by q.ordinal`
