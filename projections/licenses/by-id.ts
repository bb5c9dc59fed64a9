import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { type LicenseRow, licenseFrom } from './rows.ts'

/** A license to decide on, without its seats. */
type LicenseWithoutSeats = { license: IssuedLicense; revision: number }

/**
 * Finds licenses of whichever tenant, for what follows from the clock and not from somebody's asking. A midnight has
 * thousands of them, so that those of one moment share a query.
 */
export function createLicenseLookup(
  db: Pool,
): (licenseId: string) => Promise<LicenseWithoutSeats | undefined> {
  return coalesce(async (licenseIds) => {
    const { rows } = await db.query<LicenseRow | { license_id: null }>({
      name: 'license-lookup',
      text: lookup,
      values: [licenseIds],
    })
    return rows.map((row) =>
      row.license_id === null ? undefined : { license: licenseFrom(row, []), revision: row.revision },
    )
  })
}

const lookup = `
  select l.* from unnest($1::text[]) with ordinality as q (license_id, ordinal)
  left join licenses l on l.license_id = q.license_id
  order by q.ordinal`
