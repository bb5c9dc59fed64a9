import { v7 } from 'uuid'

const crockford = '0123456789abcdefghjkmnpqrstvwxyz'

type IdPrefix = 'lic' | 'ins' | 'cus' | 'cnf' | 'tok' | 'whd' | 'tp' | 'req' | 'mem'

/** A new id: its kind, `_`, and a UUIDv7 in lower-case Crockford base32, so that ids sort by the time they were made. */
export function newId(prefix: IdPrefix): string {
  let bits = 0n
  for (const byte of v7(undefined, new Uint8Array(16))) bits = (bits << 8n) | BigInt(byte)
  return `${prefix}_${base32(bits, 26)}`
}

function base32(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest >>= 5n) text = crockford[Number(rest & 31n)] + text
  return text
}
