import fc from 'fast-check'
import type { RandomBytes } from '../../src/credentials/random.ts'

/** A source that hands out the given bytes over and over. */
export function cycling(bytes: readonly number[]): RandomBytes {
  let next = 0
  return (size) => Uint8Array.from({ length: size }, () => bytes[next++ % bytes.length] ?? 0)
}

/** Sources whose every byte is as likely as any other, and which shrink towards zeros. */
export const sources: fc.Arbitrary<RandomBytes> = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .map((bytes) => cycling([...bytes, 0]))
