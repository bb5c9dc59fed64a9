import { v7 } from 'uuid'

const crockford = '0123456789abcdefghjkmnpqrstvwxyz'

type IdPrefix = 'lic' | 'ins' | 'cus' | 'cnf' | 'tok' | 'whd' | 'tp' | 'req' | 'mem'

/** A new id: its kind, `_`, and a UUIDv7 in lower-case Crockford base32, so that ids sort by the time they were made. */
export function newId(prefix: IdPrefix): string {
  let bits = 0n
  for (const byte of v7(undefined, new Uint8Array(16))) bits = (bits << 8n) | BigInt(byte)
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
