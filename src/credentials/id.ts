import { createHmac } from 'node:crypto'
import { v7 } from 'uuid'
import type { RandomBytes } from './random.ts'

const crockford = '0123456789abcdefghjkmnpqrstvwxyz'

export type IdPrefix = 'lic' | 'ins' | 'cus' | 'cnf' | 'tok' | 'whd' | 'tp' | 'req' | 'mem'

/** A new id: its kind, `_`, and a UUIDv7 in lower-case Crockford base32, so that ids sort by the time they were made. */
export function newId(prefix: IdPrefix): string {
  return idOf(prefix, v7(undefined, new Uint8Array(16)))
}

/** An id made at a moment out of given random bytes: the same moment and bytes give the same id. */
export function seededId(prefix: IdPrefix, at: string, randomBytes: RandomBytes): string {
  return idOf(prefix, v7({ msecs: Date.parse(at), random: randomBytes(16) }, new Uint8Array(16)))
}

/** Makes the id of what has a name of its own already: the same parts give the same id. */
export type DeriveId = (prefix: IdPrefix, ...parts: string[]) => string

/**
 * Ids that follow from what they are the id of, so that whoever names the same thing names the same stream. A keyed
 * hash, so that nobody can try out which parts gave an id. In form a UUIDv8, RFC 9562's for a purpose of one's own.
 */
export function createDeriveId(key: Uint8Array): DeriveId {
  return (prefix, ...parts) => {
    const bytes = createHmac('sha256', key)
      .update(JSON.stringify(['id', prefix, ...parts]))
      .digest()
      .subarray(0, 16)
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
    return idOf(prefix, bytes)
  }
}

function idOf(prefix: IdPrefix, bytes: Uint8Array): string {
  let bits = 0n
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte)
  return `${prefix}_${base32(bits, 26)}`
}

const prefixedId = /^([a-z]{2,3})_[0-9a-hjkmnp-tv-z]{26}$/

/** Whether a text can be an id of this kind; anything else is nobody's, which needs no look-up. */
export const isId = (prefix: IdPrefix, text: string): boolean => prefixedId.exec(text)?.[1] === prefix

function base32(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest >>= 5n) text = crockford[Number(rest & 31n)] + text
  return text
}
