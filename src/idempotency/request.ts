import { createHmac, type KeyObject } from 'node:crypto'
import canonicalize from 'canonicalize'

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
