import { hash, timingSafeEqual } from 'node:crypto'

/** Lower-case hex. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** Compares two hex digests of one length in a time that does not tell where they differ. */
export function sameDigest(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))
}
