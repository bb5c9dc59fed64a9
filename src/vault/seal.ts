import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

/**
 * AES-256-GCM with a fresh nonce. What the text belongs to is bound in as associated data, so that a sealed value
 * moved to another tenant, record or field does not open.
 * @param key 32 bytes; not given as bytes, which Node takes at several times the cost
 */
export function seal(key: KeyObject, belongsTo: readonly string[], plain: Uint8Array): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(associatedData(belongsTo))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** @throws when the key, the owner or any byte differs from what was sealed */
export function open(key: KeyObject, belongsTo: readonly string[], sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed)
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
  decipher.setAAD(associatedData(belongsTo))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
}

const associatedData = (belongsTo: readonly string[]): Buffer => Buffer.from(JSON.stringify(belongsTo))
