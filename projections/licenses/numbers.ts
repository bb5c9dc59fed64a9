import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { partsOfNumbers } from '../search/number-parts.ts'
import { defineTable, type RowIn } from '../table.ts'

/** Licenses that were imported with the number of an order, or with an id of the system that they come from. */
export const licenseNumbers = defineTable(
  'license_numbers',
  {
    licenseId: 'text not null',
    tenantId: 'text not null',
    // What the numbers are found by, see number-parts.ts.
    parts: 'int[] not null',
  },
  { key: ['licenseId'], over: 'nothing', indexes: { licenses_by_number_part: 'using gin (parts)' } },
)

/** The numbers in the metadata of a license under the names that an import gives them. */
export const numbersIn = ({ metadata }: Pick<IssuedLicense, 'metadata'>): string[] =>
  [metadata.orderNumber, metadata.externalId].flatMap((number) => number || [])

/** The row of `license_numbers` for a license; none when it has no numbers. */
export function numberRows(license: IssuedLicense): RowIn<typeof licenseNumbers>[] {
  const { licenseId, tenantId } = license
  const parts = partsOfNumbers(tenantId, numbersIn(license))
  return parts.length === 0 ? [] : [{ licenseId, tenantId, parts }]
}
