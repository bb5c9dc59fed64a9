import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** The types of signatures that keyledger makes and verifies: C2SP signed-note. */
export const signatureTypes = { ed25519: 1, cosignature: 4 } as const
export type SignatureType = (typeof signatureTypes)[keyof typeof signatureTypes]

export const publicKeyBytes = 32
const signatureBytes = 64

/** Whether text may name a key: not empty, and without spaces and plus. */
export const isKeyName = (name: string): boolean => name !== '' && !/[\s+]/u.test(name)

// The fixed bytes before a raw Ed25519 key in its DER form (RFC 8410).
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** @param seed the 32 bytes of a private Ed25519 key (RFC 8032) */
export const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' })

/** @returns the 32 bytes of the public key (RFC 8032) */
export const publicBytesOf = (privateKey: KeyObject): Uint8Array =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(publicPrefix.length)

/** @returns an Ed25519 signature, 64 bytes */
export const signBytes = (privateKey: KeyObject, message: Uint8Array): Uint8Array =>
  sign(null, message, privateKey)

/** Whether an Ed25519 signature is that of a public key of 32 bytes over a message. */
export function verifyBytes(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== signatureBytes) return false
  const key = createPublicKey({ key: Buffer.concat([publicPrefix, publicKey]), format: 'der', type: 'spki' })
  return verify(null, message, key, signature)
}
