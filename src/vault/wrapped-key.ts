import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { open, seal } from './seal.ts'

/** A new key of 32 random bytes, and the same key sealed under another one, for storage. */
export function newWrappedKey(
  under: KeyObject,
  belongsTo: readonly string[],
): { key: KeyObject; wrapped: Buffer } {
  const bytes = randomBytes(32)
  return { key: createSecretKey(bytes), wrapped: seal(under, belongsTo, bytes) }
}

/** @throws as {@link open} */
export const unwrapKey = (under: KeyObject, belongsTo: readonly string[], wrapped: Uint8Array): KeyObject =>
  createSecretKey(open(under, belongsTo, wrapped))

/** Seals the same key again with a new nonce. @throws as {@link open} */
export const rewrapped = (under: KeyObject, belongsTo: readonly string[], wrapped: Uint8Array): Buffer =>
  seal(under, belongsTo, open(under, belongsTo, wrapped))
