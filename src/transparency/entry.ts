import { createHash } from 'node:crypto'
import { canonicalBytes, type EventRecord, recordBytes } from './record.ts'

/** A salt of 128 random bits, in hexadecimal. */
const saltForm = /^[0-9a-f]{32}$/

/** @returns the salt that was recorded with an event; undefined for an event from before salts were */
export function saltOf({ metadata }: EventRecord): string | undefined {
  const { salt } = membersOf(metadata)
  return typeof salt === 'string' && saltForm.test(salt) ? salt : undefined
}

/**
 * @returns the bytes of an event whose hash is its leaf. The event itself decides which they are, so the same log always has the
 *   same tree: the record of an event without a salt, and of one with a salt, {@link entryOfParts} of its two parts.
 * @throws Error for a value that JSON does not have
 */
export const entryOf = (record: EventRecord): Uint8Array =>
  saltOf(record) === undefined ? recordBytes(record) : entryOfParts(openPart(record), sealedHash(record))

/**
 * @param open an event without what may be withheld
 * @param sealed {@link sealedHash} of what may be withheld
 */
export function entryOfParts(open: EventRecord, sealed: string): Uint8Array {
  const { stream, revision, type } = open
  return canonicalBytes({ leaf: 2, open: sha256(recordBytes(open)), revision, sealed, stream, type })
}

/** @returns an event without what may be withheld: the hash of a license key, and the salt */
export function openPart({ data, metadata, ...place }: EventRecord): EventRecord {
  return { ...place, data: without(data, 'keyHash'), metadata: without(metadata, 'salt') }
}

/** @returns the hash of what may be withheld. The salt keeps it from being guessed. */
export function sealedHash({ data, metadata }: EventRecord): string {
  const { keyHash } = membersOf(data)
  const { salt } = membersOf(metadata)
  return sha256(canonicalBytes(keyHash === undefined ? { salt } : { keyHash, salt }))
}

function without(value: unknown, name: string): unknown {
  if (!Object.hasOwn(membersOf(value), name)) return value
  return Object.fromEntries(Object.entries(membersOf(value)).filter(([other]) => other !== name))
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
