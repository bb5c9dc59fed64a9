import type { ForeignLicense as ImportRow } from '../../commands/licenses/import.ts'
import { nameInOneLine } from '../../domain/plain-text.ts'
import type { EntitlementValues } from '../../domain/products/entitlement-values.ts'
import { Entitlement, entitlementSet, type KeyType } from '../../domain/products/key-type.ts'
import { asciiEmail, isPlain, isStorable } from '../../domain/values.ts'
import { importRowOf } from '../../http/licenses/import-row.ts'
import type { ForeignDevice, ForeignLicense } from '../foreign.ts'
import { marksOf, type RowMarks } from './marks.ts'

/** What a license becomes, with sentences about what of it is left out; or why it cannot be taken. */
export type PlannedRow = { row: ImportRow; leftOut: string[] } | { problem: string }

const maxKeyLength = 512
const maxDevices = 500
const maxDeviceLimit = 100_000

/**
 * The row by which a license is imported. A license is taken with less rather than not at all, so that its key goes on
 * working: what does not fit is left out and reported.
 */
export function rowOf(license: ForeignLicense, keyType: KeyType, source: string): PlannedRow {
  const { licenseKey, expiresAt, updatesUntil, createdAt, status } = license
  if (licenseKey === null || licenseKey.trim() === '')
    return { problem: 'The export does not contain its key.' }
  if (licenseKey.length > maxKeyLength)
    return { problem: `Its key has ${licenseKey.length} characters; keys can have ${maxKeyLength}.` }
  const leftOut = [...license.leftOut]
  const note = (sentence: string) => void leftOut.push(sentence)
  const { quantity, deviceLimit } = seatsOf(license, keyType, note)
  const devices = devicesOf(license, deviceLimit === undefined ? keyType.deviceLimit : deviceLimit, note)
  const read = importRowOf({
    licenseKey,
    keyTypeId: keyType.keyTypeId,
    ...personOf(license, note),
    ...(quantity > 1 && { quantity }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(updatesUntil !== undefined && { updatesUntil }),
    ...(createdAt !== null && { createdAt }),
    ...((status === 'revoked' || status === 'expired' || status === 'fallback') && { status }),
    metadata: metadataOf(license, source, note),
    ...(devices.length > 0 && { devices }),
  })
  if (typeof read === 'string') return { problem: read }
  return {
    row: { ...read, deviceLimit, ...(status === 'suspended' && { status: 'suspended' }) },
    leftOut,
  }
}

/**
 * A key type that is not sold in multiples gives a license of several units their devices, so that nobody loses seats.
 * @returns a device limit of undefined for that of the key type
 */
function seatsOf(
  { seats, quantity }: ForeignLicense,
  keyType: KeyType,
  note: (sentence: string) => void,
): { quantity: number; deviceLimit: number | null | undefined } {
  const perUnit = keyType.deviceLimit
  const isInMultiples = keyType.sellInMultiples && quantity <= (keyType.maxQuantity ?? quantity)
  const ofUnits = quantity === 1 ? undefined : perUnit === null ? null : perUnit * quantity
  const wanted = seats === undefined ? ofUnits : seats
  if (wanted != null && wanted > maxDeviceLimit)
    note(`Its limit of ${wanted} devices becomes ${maxDeviceLimit}.`)
  return {
    quantity: isInMultiples ? quantity : 1,
    deviceLimit: wanted == null ? wanted : Math.min(wanted, maxDeviceLimit),
  }
}

function personOf({ email, name }: ForeignLicense, note: (sentence: string) => void) {
  if (email === null || email.trim() === '') return {}
  const address = asciiEmail(email.trim())
  if (address === undefined) {
    note('Its holder is left out: the email address is not valid.')
    return {}
  }
  const shown = plainText(name ?? '', 200)
  return { email: address, ...(shown !== '' && { name: shown }) }
}

/** Keeps the devices that were seen last when there are more than seats. */
function devicesOf(
  { devices }: ForeignLicense,
  limit: number | null,
  note: (sentence: string) => void,
): ({ deviceId: string; name: string } & RowMarks)[] {
  const usable = devices.filter(({ deviceId }) => isDeviceId(deviceId))
  if (usable.length < devices.length) note(`${devices.length - usable.length} devices have no usable id.`)
  const distinct = [...new Map(usable.map((device) => [device.deviceId, device])).values()]
  const most = Math.min(limit ?? maxDevices, maxDevices)
  if (distinct.length > most) {
    note(
      `${distinct.length - most} of ${distinct.length} devices are left out, the ones seen longest ago: ${most} fit.`,
    )
  }
  const kept = distinct.length > most ? distinct.toSorted(newestFirst).slice(0, most) : distinct
  const marks = marksOf(kept, note)
  return kept.map(({ deviceId, name }, index) => ({
    deviceId,
    name: plainText(name ?? '', 200) || deviceId.slice(0, 200),
    ...marks[index],
  }))
}

const isDeviceId = (id: string): boolean => id !== '' && id.length <= 256 && isPlain(id)

const newestFirst = (one: ForeignDevice, other: ForeignDevice): number =>
  (other.lastSeen ?? '').localeCompare(one.lastSeen ?? '')

const maxPairs = 50

/** Its id in the other system is kept, so that what is already there can be recognized. */
export function metadataOf(
  { metadata, externalId }: Pick<ForeignLicense, 'metadata' | 'externalId'>,
  source: string,
  note: (sentence: string) => void,
): Record<string, string> {
  const own = { importedFrom: source, ...(externalId !== null && { externalId: externalId.slice(0, 1024) }) }
  const given = Object.entries(metadata).filter(([key]) => !Object.hasOwn(own, key))
  const fitting = given.filter(
    ([key, value]) =>
      key !== '' && key.length <= 64 && value.length <= 1024 && isPlain(key) && isStorable(value),
  )
  const kept = fitting.slice(0, maxPairs - Object.keys(own).length)
  const dropped = given.filter((pair) => !kept.includes(pair)).map(([key]) => key)
  if (dropped.length > 0) note(`Metadata is left out: ${dropped.join(', ').slice(0, 200)}.`)
  return { ...own, ...Object.fromEntries(kept) }
}

/** Text on one line without control characters. */
export const plainText = (text: string, most: number): string =>
  nameInOneLine(text.toWellFormed()).slice(0, most).toWellFormed()

/**
 * The name of an entitlement in the form that key types accept: lower case, and a hyphen for every other character.
 * @returns undefined when nothing is left of it
 */
function entitlementOf(code: string): string | undefined {
  const name = code
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9._:-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .replace(/-+$/, '')
    .slice(0, 64)
  return Entitlement.safeParse(name).success ? name : undefined
}

/** Entitlements of another system as a sorted set, in the form of key types. */
export const entitlementsOf = (codes: readonly string[]): string[] =>
  entitlementSet(codes.flatMap((code) => entitlementOf(code) ?? []))

/** The values of entitlements of another system, by the names in that form and in their order. */
export const entitlementValuesOf = (values: EntitlementValues): EntitlementValues =>
  Object.fromEntries(
    Object.entries(values)
      .flatMap(([code, value]) => {
        const name = entitlementOf(code)
        return name === undefined ? [] : [[name, value] as const]
      })
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
