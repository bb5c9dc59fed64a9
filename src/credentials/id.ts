import { createHmac, type KeyObject, randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import type { RandomBytes } from './random.ts'

export type IdPrefix =
  | 'lic'
  | 'ins'
  | 'cus'
  | 'cnf'
  | 'tok'
  | 'whd'
  | 'whe'
  | 'whr'
  | 'tp'
  | 'req'
  | 'mem'
  | 'rol'
  | 'grp'
  | 'sal'
  | 'aud'
  | 'lnk'
  | 'fil'
  | 'crd'
  | 'hld'
  | 'alw'
  | 'rel'
  | 'nte'
  | 'per'
  | 'pky'
  | 'rsl'

/** Makes an id: its kind, `_`, and a UUIDv7 in lower-case Crockford base32, so ids sort by creation time. */
export function newId(prefix: IdPrefix): string {
  const random = nextRandom()
  advance(random)
  return `${prefix}_${base32(v7({ ...last, random }, new Uint8Array(16)))}`
}

/** Makes an id from a time (ISO 8601) and given random bytes; the same input gives the same id. */
export function seededId(prefix: IdPrefix, at: string, randomBytes: RandomBytes): string {
  return `${prefix}_${base32(v7({ msecs: Date.parse(at), random: randomBytes(16) }, new Uint8Array(16)))}`
}

/** Derives the id of something that already has a name; the same parts give the same id. */
export type DeriveId = (prefix: IdPrefix, ...parts: string[]) => string

/**
 * Creates a function that derives ids from names, so that the same name always leads to the same stream. The
 * hash is keyed, so the parts cannot be guessed from an id. The result has the form of a UUIDv8, which RFC 9562
 * reserves for custom formats.
 */
export function createDeriveId(key: KeyObject): DeriveId {
  return (prefix, ...parts) => {
    const bytes = createHmac('sha256', key)
      .update(JSON.stringify(['id', prefix, ...parts]))
      .digest()
      .subarray(0, 16)
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
    return `${prefix}_${base32(bytes)}`
  }
}

/** The id of what an operation creates, made from the operation's own id: a repetition makes the same one. */
export const idOfMade = (prefix: IdPrefix, operationId: string): string =>
  `${prefix}_${operationId.slice(operationId.indexOf('_') + 1)}`

const prefixedId = /^([a-z]{2,3})_[0-9a-hjkmnp-tv-z]{26}$/

/** Whether a text has the form of an id of this kind; others need no look-up. */
export const isId = (prefix: IdPrefix, text: string): boolean => prefixedId.exec(text)?.[1] === prefix

const pool = Buffer.alloc(16 * 1024)
let used = pool.length

/** Returns 16 random bytes from a buffer; filling many at once is far cheaper than a few each time. */
function nextRandom(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 16
  return pool.subarray(used - 16, used)
}

/**
 * The last id's time and counter. Later ids sort after it, also within one millisecond or when the clock goes
 * back.
 */
const last = { msecs: Number.NEGATIVE_INFINITY, seq: 0 }

function advance(random: Buffer): void {
  const now = Date.now()
  // Half of the counter's range is left for increments.
  last.seq = now > last.msecs ? random.readUInt32BE(0) >>> 1 : last.seq + 1
  last.msecs = Math.max(now, last.msecs)
}

const crockford = '0123456789abcdefghjkmnpqrstvwxyz'

/** Encodes 16 bytes as 26 digits. Two zero bits come first, because 26 digits hold 130 bits. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let pending = 0
  let bits = 2
  for (const byte of bytes) {
    pending = (pending << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += crockford[(pending >>> (bits - 5)) & 31]
    pending &= (1 << bits) - 1
  }
  return text
}
