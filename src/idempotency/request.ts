import { createHmac, type KeyObject } from 'node:crypto'
import canonicalize from 'canonicalize'

/** A request with an Idempotency-Key, as far as it matters which one it is. */
export type KeyedRequest = {
  tenantId: string
  tokenId: string
  /** Method and path template. */
  route: string
  /** What the caller chose. */
  key: string
  params: unknown
  query: unknown
  body: unknown
}

/** The request holds something that has no canonical form. */
export class NotCanonical extends Error {}

/** 1–255 visible ASCII characters. */
export const isIdempotencyKey = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text)

/** Under what the request is remembered: the same for every request that may be a repetition of it. */
export const keyHashOf = (secret: KeyObject, { tenantId, tokenId, route, key }: KeyedRequest): Buffer =>
  mac(secret, JSON.stringify(['key', tenantId, tokenId, route, key]))

/**
 * What the request asks for, by its RFC 8785 form, so that the order of fields and white space do not matter. Keyed,
 * since a body may hold an e-mail address, which a bare hash would let anybody try out.
 * @throws NotCanonical for half of a surrogate pair, or JSON nested too deeply
 */
export function requestHashOf(secret: KeyObject, { params, query, body }: KeyedRequest): Buffer {
  try {
    return mac(secret, canonicalize(['request', params ?? null, query ?? null, body ?? null]) ?? '')
  } catch (error) {
    throw new NotCanonical('the body has no canonical form', { cause: error })
  }
}

const mac = (secret: KeyObject, text: string): Buffer => createHmac('sha256', secret).update(text).digest()
