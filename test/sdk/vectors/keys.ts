import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'

export const now = 1_793_530_000
export const place = { tenantId: 'acme', productId: 'acme-editor' }
export const instanceId = 'ins_01k9m3v5q7e8ra9c1d3f5g7h9j'
export const licenseKey = 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7'
export const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

/** An Ed25519 key from a fixed seed: the first is RFC 8032's first test key. */
export function keyOf(seed: string) {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const privateKey = createPrivateKey({
    key: Buffer.concat([prefix, Buffer.from(seed, 'hex')]),
    format: 'der',
    type: 'pkcs8',
  })
  const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { privateKey, publicKey: raw.toString('base64'), kid: sha256(raw).slice(0, 16) }
}
export const key = keyOf('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
export const stranger = keyOf('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb')
export const signed = (text: string, by = key) =>
  sign(null, Buffer.from(text), by.privateKey).toString('base64')
export const keyset = { keys: { [key.kid]: key.publicKey } }
export const licenseKeyHash = sha256('ACME7KQ2M9XW4DR1T8V0ZB5N3HJ6C7')

export type Case = { name: string; valid: boolean; reason?: string; why: string; [field: string]: unknown }
