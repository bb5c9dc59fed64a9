import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/**
 * Encrypts with AES-256-GCM and a fresh nonce. The owner is bound in as associated data, so a sealed value that
 * is moved to another tenant, record or field cannot be opened.
 * @param key 32 bytes, as a KeyObject: raw bytes take Node several times as long
 */
export function seal(key: KeyObject, belongsTo: readonly string[], plain: Uint8Array): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(associatedData(belongsTo))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts a sealed value. @throws Error when the key, the owner or any byte differs */
export function open(key: KeyObject, belongsTo: readonly string[], sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed)
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
  decipher.setAAD(associatedData(belongsTo))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
}

const associatedData = (belongsTo: readonly string[]): Buffer => Buffer.from(JSON.stringify(belongsTo))

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
