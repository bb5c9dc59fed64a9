import { createCipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import canonicalize from 'canonicalize'
import { type IdPrefix, seededId } from '../credentials/id.ts'
import type { RandomBytes } from '../credentials/random.ts'

/** The parts of a request with an Idempotency-Key that identify it. */
export type KeyedRequest = {
  tenantId: string
  tokenId: string
  /** The method and path template. */
  route: string
  /** The Idempotency-Key header. */
  key: string
  params: unknown
  query: unknown
  body: unknown
}

/** The request has no canonical form. */
export class NotCanonical extends Error {}

/** 1–255 visible ASCII characters. */
export const isIdempotencyKey = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text)

/** The hash under which a request is stored, the same for every repetition of it. */
export const keyHashOf = (secret: KeyObject, { tenantId, tokenId, route, key }: KeyedRequest): Buffer =>
  mac(secret, JSON.stringify(['key', tenantId, tokenId, route, key]))

/**
 * Hashes the contents of a request in RFC 8785 form, so that the order of fields and white space do not matter.
 * The hash is keyed, because a body may contain an email address, which could be guessed from a plain hash.
 * @throws NotCanonical for an unpaired surrogate, or JSON nested too deeply
 */
export function requestHashOf(secret: KeyObject, { params, query, body }: KeyedRequest): Buffer {
  try {
    return mac(secret, canonicalize(['request', params ?? null, query ?? null, body ?? null]) ?? '')
  } catch (error) {
    throw new NotCanonical('the request must be well-formed Unicode and not deeply nested', { cause: error })
  }
}

const mac = (secret: KeyObject, text: string): Buffer => createHmac('sha256', secret).update(text).digest()

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
