import fc from 'fast-check'
import type { RandomBytes } from '../../src/credentials/random.ts'

/** A source that repeats the given bytes. */
export function cycling(bytes: readonly number[]): RandomBytes {
  let next = 0
  return (size) => Uint8Array.from({ length: size }, () => bytes[next++ % bytes.length] ?? 0)
}

/** Uniform random sources, which shrink towards zeros. */
export const sources: fc.Arbitrary<RandomBytes> = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .map((bytes) => cycling([...bytes, 0]))
