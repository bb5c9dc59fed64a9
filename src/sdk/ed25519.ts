import { getPublicKey, hashes, sign, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'

// A synchronous hash, so that verifying is synchronous and works on pages without WebCrypto.
hashes.sha512 = sha512

/**
 * Verifies strictly by RFC 8032: non-canonical signatures and keys of low order are rejected. Never throws.
 * @param signature base64, 64 bytes
 * @param publicKey base64, 32 bytes
 */
export function verifyText(text: string, signature: string, publicKey: string): boolean {
  const signed = bytesOf(signature, 64)
  const key = keyBytes(publicKey)
  return signed !== undefined && key !== undefined && verifyBytes(new TextEncoder().encode(text), signed, key)
}

/** Never throws: returns false for a malformed signature or key. */
export function verifyBytes(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}

/** The raw public key of a 32-byte seed. */
export const publicKeyOf = (seed: Uint8Array): Uint8Array => getPublicKey(seed)

export const signBytes = (message: Uint8Array, seed: Uint8Array): Uint8Array => sign(message, seed)

/** The bytes of a public key in base64; undefined for what is none. */
export const keyBytes = (publicKey: string): Uint8Array | undefined => bytesOf(publicKey, 32)

/** Accepts only canonical base64: another spelling of the same bytes is not what was sent. */
function bytesOf(base64: string, length: number): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length !== Math.ceil(length / 3) * 4) return undefined
  try {
    const text = atob(base64)
    return btoa(text) === base64 && text.length === length
      ? Uint8Array.from(text, (character) => character.charCodeAt(0))
      : undefined
  } catch {
    return undefined
  }
}
