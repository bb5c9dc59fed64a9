import { getPublicKey, hashes, sign, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { bytesOf, utf8 } from './base64.ts'

// A synchronous hash, so that verifying is synchronous and works on pages without WebCrypto.
hashes.sha512 = sha512

/**
 * Verifies strictly by RFC 8032: non-canonical signatures and keys of low order are rejected. Never throws.
 * @param signature base64, 64 bytes
 * @param publicKey base64, 32 bytes
 */
export const verifyText = (text: string, signature: string, publicKey: string): boolean =>
  verifyBytes(utf8(text), bytesOf(signature), bytesOf(publicKey))

/** The same for bytes; false for a signature or key that is none, or has another length. */
export function verifyBytes(
  message: Uint8Array,
  signature: Uint8Array | undefined,
  publicKey: Uint8Array | undefined,
): boolean {
  if (!signature || !publicKey) return false
  try {
    return verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}

/** The raw public key of a 32-byte seed. */
export const publicKeyOf = (seed: Uint8Array): Uint8Array => getPublicKey(seed)

export const signBytes = (message: Uint8Array, seed: Uint8Array): Uint8Array => sign(message, seed)
