import { createHmac, timingSafeEqual } from 'node:crypto'

/** The maximum age of a signature, in seconds; a later copy is rejected. */
export const signatureLifetime = 300

/** HMAC-SHA256 of the concatenated pieces. */
export function hmac(key: string | Uint8Array, ...pieces: (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', key)
  for (const piece of pieces) mac.update(piece)
  return mac.digest()
}

/** Whether one of the signatures is the expected one, in constant time. */
export function isAmong(
  expected: Buffer,
  signatures: readonly string[],
  encoding: 'hex' | 'base64',
): boolean {
  const wanted = Buffer.from(expected.toString(encoding))
  return signatures.some((signature) => {
    const given = Buffer.from(signature)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

/** Whether a signature's time, in seconds, is within the maximum age before or after now. */
export function isFresh(seconds: string, now: Date): boolean {
  if (!/^\d{1,12}$/.test(seconds)) return false
  return Math.abs(now.getTime() / 1000 - Number(seconds)) <= signatureLifetime
}

/** A time as the signatures hold it. */
export const secondsOf = (now: Date): number => Math.floor(now.getTime() / 1000)
