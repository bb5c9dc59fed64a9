import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

export const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** An Ed25519 key pair of RFC 8032, made of a number, so that a run can be repeated. */
export type Keys = { privateKey: KeyObject; publicKey: Buffer }

const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const spki = Buffer.from('302a300506032b6570032100', 'hex')

export function keysOf(seed: number): Keys {
  const key = Buffer.concat([pkcs8, Buffer.alloc(32, seed)])
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return { privateKey, publicKey: der.subarray(spki.length) }
}

export const signedBy = ({ privateKey }: Keys, text: string): Buffer =>
  sign(null, Buffer.from(text), privateKey)

export const isSignedBy = (publicKey: Uint8Array, text: string, signature: Uint8Array): boolean =>
  verify(
    null,
    Buffer.from(text),
    createPublicKey({ key: Buffer.concat([spki, publicKey]), format: 'der', type: 'spki' }),
    signature,
  )

/** The `kid` of a vendor's key, as archives name it. */
export const kidOf = (publicKey: Uint8Array): string => sha256(publicKey).toString('hex').slice(0, 16)

/** The four bytes that stand before a signature in a signed note (C2SP signed-note). */
const noteId = (name: string, { publicKey }: Keys): Buffer =>
  sha256(Buffer.from(`${name}\n`), Buffer.of(1), publicKey).subarray(0, 4)

/** A key of a log as text (C2SP signed-note). */
export const vkeyOf = (name: string, keys: Keys): string =>
  `${name}+${noteId(name, keys).toString('hex')}+${Buffer.concat([Buffer.of(1), keys.publicKey]).toString('base64')}`

/** A checkpoint (C2SP tlog-checkpoint), signed by a key under the name of its log. */
export function checkpointOf(origin: string, size: number, root: Uint8Array, keys: Keys): string {
  const text = `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`
  return `${text}\n${signatureLine(origin, keys, text)}`
}

/** A line of a signature in a signed note. */
export const signatureLine = (name: string, keys: Keys, text: string): string =>
  `\u2014 ${name} ${Buffer.concat([noteId(name, keys), signedBy(keys, text)]).toString('base64')}\n`
