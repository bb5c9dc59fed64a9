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

/** The prefix of the names of keys in the vault that are kept only to be mailed. */
export const mailedKeyPrefix = 'mailed-key.'

/**
 * The name under which the vault keeps a key that its holder gets by mail: from just before the event that asks for the
 * mail until the mail was accepted, or was abandoned 30 days ago. The next key of the license has another name.
 */
export const mailedKeyName = (licenseId: string, keyHash: string): string =>
  `${mailedKeyPrefix}${licenseId}.${keyHash}`

/** Whose kept key it is: that of a license with the key of this hash, and with this holder. */
export type KeptKeyPlace = { tenantId: string; licenseId: string; keyHash: string; subjectId: string }

/** The present period of a product, which ends when key recovery is turned off, and whether the product keeps keys in it. */
export type KeptPeriod = { tenantId: string; productId: string; period: number; keeps: boolean }

/** The prefix of the names of sold keys in the vault. */
export const saleKeyPrefix = 'sale-key.'

/**
 * The name under which the vault keeps the key of a sold license: from just before the license exists until
 * its deliveries have succeeded, or were abandoned 30 days ago.
 */
export const saleKeyName = (licenseId: string): string => `${saleKeyPrefix}${licenseId}`
