import { crc32 } from 'node:zlib'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
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

/** So many characters of a number find it wherever they stand in it; a shorter text is compared with the whole number. */
const shortestPart = 4

/** A longer text is searched by its beginning; the comparison uses all of it. */
const maxParts = 60

/** The beginning that names the kind of an id, such as `cs_live_`. Most of a tenant's ids share it, so it narrows nothing. */
const kind = /^[a-z]{0,4}_(?:live_|test_)?/

/**
 * What numbers are found by: a hash of every four characters that stand beside one another, in which upper and lower case
 * are the same. Equal characters have another hash in another tenant, so an index over all tenants finds those of one.
 */
export function partsOfNumbers(tenantId: string, numbers: readonly string[]): number[] {
  const parts = numbers.flatMap((number) => {
    const characters = [...number.toLowerCase().replace(kind, '')]
    if (characters.length < shortestPart) return characters.length === 0 ? [] : characters.join('')
    return characters.slice(shortestPart - 1).map((_, at) => characters.slice(at, at + shortestPart).join(''))
  })
  return [...new Set(parts.map((part) => crc32(`${tenantId} ${part}`) | 0))]
}

/** What a text that was typed is looked up by; empty when nothing of it narrows a search. */
export const partsOfText = (tenantId: string, text: string): number[] =>
  partsOfNumbers(tenantId, [text]).slice(0, maxParts)

/** Whether a text is a part of one of the numbers, or all of it when it is shorter than a part. */
export function isPartOf(numbers: readonly string[], text: string): boolean {
  const part = text.toLowerCase()
  return numbers.some((number) => {
    const whole = number.toLowerCase()
    return part.length < shortestPart ? whole === part : whole.includes(part)
  })
}
