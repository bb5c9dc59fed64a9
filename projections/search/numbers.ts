import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { numbersOfSale } from '../../src/domain/sales/numbers.ts'
import type { KnownSale } from '../../src/domain/sales/sale.ts'
import { rowsWithin } from '../database/transaction.ts'
import { isPartOf, numbersIn, partsOfText } from '../licenses/numbers.ts'
import { type LicenseRow, licenseFrom } from '../licenses/rows.ts'

/** How many rows are read and compared for one search. */
const maxCompared = 500

/** Then the search ends without a result: nearly every number contains the text. */
const timeLimitMs = 1000

/** `more`: there may be others, since too many numbers contain the text to compare them all. */
type ByNumber<Found> = { found: Found[]; more: boolean }

/** Finds sales by a part of their order number or of one of the provider's ids, ignoring case, newest first. */
export async function findSalesByNumber(
  db: Pool,
  tenantId: string,
  text: string,
): Promise<ByNumber<KnownSale>> {
  const rows = await rowsWith<{ state: KnownSale }>(
    db,
    tenantId,
    text,
    'select state from sales where tenant_id = $1 and number_parts @> $2::int[] limit $3',
  )
  const found = rows?.map(({ state }) => state).filter((sale) => isPartOf(numbersOfSale(sale), text)) ?? []
  return {
    found: found.toSorted((a, b) => b.receivedAt.localeCompare(a.receivedAt) || b.id.localeCompare(a.id)),
    more: rows === undefined || rows.length === maxCompared,
  }
}

/** Finds imported licenses by a part of a number in their metadata, ignoring case, newest first. */
export async function findLicensesByNumber(
  db: Pool,
  tenantId: string,
  text: string,
): Promise<ByNumber<IssuedLicense>> {
  const rows = await rowsWith<LicenseRow>(
    db,
    tenantId,
    text,
    `select l.* from license_numbers n join licenses l on l.license_id = n.license_id
     where n.tenant_id = $1 and n.parts @> $2::int[] limit $3`,
  )
  const found = rows?.map((row) => licenseFrom(row, [])).filter((one) => isPartOf(numbersIn(one), text)) ?? []
  return {
    found: found.toSorted(
      (a, b) => b.createdAt.localeCompare(a.createdAt) || b.licenseId.localeCompare(a.licenseId),
    ),
    more: rows === undefined || rows.length === maxCompared,
  }
}

/** Undefined when the search took too long. */
async function rowsWith<Row extends object>(
  db: Pool,
  tenantId: string,
  text: string,
  query: string,
): Promise<Row[] | undefined> {
  const parts = partsOfText(tenantId, text)
  return parts.length === 0 ? [] : rowsWithin<Row>(db, timeLimitMs, query, [tenantId, parts, maxCompared])
}
