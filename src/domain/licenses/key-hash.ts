import { z } from 'zod'

const keyedPrefix = 'hmac:'

/** SHA-256 of a key of keyledger's own format, in lower-case hex. */
export const KeyHash = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * The hash under which a license keeps its key: plain, or for imported keys of another format keyed with a secret of the
 * tenant. Before keys were hashed with a secret, imports recorded the plain hash of every key.
 */
export const StoredKeyHash = z.string().regex(/^(hmac:)?[0-9a-f]{64}$/)

/** The hashes under which the license of a typed key may be stored; `keyedHash` is null for a key of our own format. */
export type KeyHashes = { keyHash: string; keyedHash: string | null }

/** @param digest the keyed digest in lower-case hex */
export const keyedHashFrom = (digest: string): string => `${keyedPrefix}${digest}`
