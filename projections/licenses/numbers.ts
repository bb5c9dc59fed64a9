import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { partsOfNumbers } from '../search/number-parts.ts'

/** Licenses that were imported with the number of an order, or with an id of the system that they come from. */
export const numbersDdl = `
  create table license_numbers (
    license_id text primary key,
    tenant_id text not null,
    -- What the numbers are found by, see number-parts.ts.
    parts int[] not null
  );
  create index licenses_by_number_part on license_numbers using gin (parts)`

/** The numbers in the metadata of a license under the names that an import gives them. */
export const numbersIn = ({ metadata }: Pick<IssuedLicense, 'metadata'>): string[] =>
  [metadata.orderNumber, metadata.externalId].flatMap((number) => number || [])

/** The row of `license_numbers` for a license; none when it has no numbers. */
export function numberRows(license: IssuedLicense): object[] {
  const { licenseId: license_id, tenantId: tenant_id } = license
  const parts = partsOfNumbers(tenant_id, numbersIn(license))
  return parts.length === 0 ? [] : [{ license_id, tenant_id, parts }]
}
