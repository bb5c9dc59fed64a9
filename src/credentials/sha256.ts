import { hash, timingSafeEqual } from 'node:crypto'

/** SHA-256 in lower-case hex. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** Compares two hex digests in constant time. */
export function sameDigest(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))
}
