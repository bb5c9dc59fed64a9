import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'

/** The PKCS#8 prefix of a 32-byte Ed25519 seed. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export type KeyPair = { privateKey: KeyObject; publicKey: string; kid: string }

/** The Ed25519 key pair of a seed. @param seed 32 bytes, base64 */
export function keyPairOf(seed: string): KeyPair {
  const der = Buffer.concat([pkcs8, Buffer.from(seed, 'base64')])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { privateKey, publicKey: raw.toString('base64'), kid: hash('sha256', raw, 'hex').slice(0, 16) }
}
