import { createCipheriv, createSecretKey, hkdfSync } from 'node:crypto'
import { type IdPrefix, seededId } from '../credentials/id.ts'
import type { RandomBytes } from '../credentials/random.ts'

/** What is reserved for a run before it begins, and is the same in every request that runs it. */
export type Reserved = {
  /** 32 random bytes, base64: everything random in the run follows from them. */
  seed: string
  /** The moment of the run, ISO 8601. */
  at: string
  /** The request that came first; it stands as the correlation id of every event of the run. */
  requestId: string
}

/**
 * Where a request with an Idempotency-Key takes its time, ids and randomness from, so that the one which begins again
 * after a crash makes the same things as the one before it.
 */
export type Run = {
  at: string
  firstRequestId: string
  /** Whether a request before this one may have got part of the way. */
  resumed: boolean
  randomBytes: RandomBytes
  newId: (prefix: IdPrefix) => string
}

/** Each kind of id has a sequence of its own, so that the order in which different things are made does not matter. */
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

/** An endless sequence of bytes that only the seed tells: the key stream of AES-256-CTR. */
function bytesFrom(seed: Uint8Array, purpose: string): RandomBytes {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', seed, '', purpose, 32)))
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  return (size) => stream.update(Buffer.alloc(size))
}
