import { createCipheriv, createSecretKey, hkdfSync } from 'node:crypto'
import { type IdPrefix, seededId } from '../credentials/id.ts'
import type { RandomBytes } from '../credentials/random.ts'

/** The reserved values of a run, the same for every request that runs it. */
export type Reserved = {
  /** 32 random bytes, base64: the seed of everything random in the run. */
  seed: string
  /** The time of the run, ISO 8601. */
  at: string
  /** The id of the first request; it is the correlation id of every event of the run. */
  requestId: string
}

/**
 * The source of time, ids and randomness of a request with an Idempotency-Key, so that a repetition after a
 * crash makes the same values.
 */
export type Run = {
  at: string
  firstRequestId: string
  /** Whether an earlier request may have run partly. */
  resumed: boolean
  randomBytes: RandomBytes
  newId: (prefix: IdPrefix) => string
}

/**
 * Each kind of id has its own random sequence, so that the order in which different things are made does not
 * matter.
 */
export function runOf({ seed, at, requestId }: Reserved, resumed: boolean): Run {
  const sources = new Map<string, RandomBytes>()
  const source = (purpose: string): RandomBytes => {
    const known = sources.get(purpose) ?? bytesFrom(Buffer.from(seed, 'base64'), purpose)
    sources.set(purpose, known)
    return known
  }
  return {
    at,
    firstRequestId: requestId,
    resumed,
    randomBytes: (size) => source('bytes')(size),
    newId: (prefix) => seededId(prefix, at, source(`id ${prefix}`)),
  }
}

/** An endless sequence of bytes that is derived from the seed: the key stream of AES-256-CTR. */
function bytesFrom(seed: Uint8Array, purpose: string): RandomBytes {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', seed, '', purpose, 32)))
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  return (size) => stream.update(Buffer.alloc(size))
}
