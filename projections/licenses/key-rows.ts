import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { PersonSeat } from '../../src/domain/licenses/named.ts'
import type { RowIn } from '../table.ts'
import type { licenseKeys } from './rows.ts'

type KeyRow = RowIn<typeof licenseKeys>

/** The rows of the keys that a license got or replaced. @param before undefined for a new license */
export function keysChanged(before: IssuedLicense | undefined, license: IssuedLicense): KeyRow[] {
  const own =
    before?.keyHash === license.keyHash
      ? []
      : [...(before ? [rowOf(before, before, false)] : []), rowOf(license, license, true)]
  return before?.named === license.named ? own : [...own, ...personalKeysChanged(before, license)]
}

/** The last key of a person without a seat stays current, so that it is not taken for one that was replaced. */
function personalKeysChanged(before: IssuedLicense | undefined, license: IssuedLicense): KeyRow[] {
  const had = Object.entries(before?.named?.people ?? {})
  const has = license.named?.people ?? {}
  const isSame = (personId: string, { keyHash }: PersonSeat) => has[personId]?.keyHash === keyHash
  const left = had.filter(([personId, seat]) => !isSame(personId, seat))
  const known = new Set(
    had.filter(([personId, seat]) => isSame(personId, seat)).map(([personId]) => personId),
  )
  return [
    ...left.map(([personId, seat]) => ({
      ...rowOf(license, seat, has[personId] === undefined),
      personId,
      isSeated: false,
    })),
    ...Object.entries(has)
      .filter(([personId]) => !known.has(personId))
      .map(([personId, seat]) => ({ ...rowOf(license, seat, true), personId, isSeated: true })),
  ]
}

const rowOf = (
  { tenantId, productId, licenseId }: IssuedLicense,
  { keyHash, displayKey }: Pick<IssuedLicense, 'keyHash' | 'displayKey'>,
  current: boolean,
): KeyRow => {
  const ending = displayKey.slice(displayKey.indexOf('…') + 1)
  return { tenantId, productId, keyHash, licenseId, current, ending, personId: null, isSeated: null }
}
