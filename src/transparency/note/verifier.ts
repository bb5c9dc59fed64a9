import type { KeyObject } from 'node:crypto'
import {
  isKeyName,
  publicBytesOf,
  publicKeyBytes,
  type SignatureType,
  signatureTypes,
  signBytes,
  verifyBytes,
} from './keys.ts'
import { keyIdOf, type Note, NoteError, type NoteSignature, parseBase64 } from './note.ts'

/** A key that somebody trusts. */
export type VerifierKey = {
  name: string
  type: SignatureType
  keyId: Uint8Array
  publicKey: Uint8Array
}

/** @returns a key that verifies what the owner of a public key signs under a name */
export const verifierKey = (name: string, type: SignatureType, publicKey: Uint8Array): VerifierKey => ({
  name,
  type,
  keyId: keyIdOf(name, type, publicKey),
  publicKey,
})

/** @returns the key as text, such as `example.com/log+530d903a+A…`: C2SP signed-note calls it vkey */
export const formatVerifierKey = ({ name, type, keyId, publicKey }: VerifierKey): string =>
  `${name}+${Buffer.from(keyId).toString('hex')}+${Buffer.concat([Uint8Array.of(type), publicKey]).toString('base64')}`

/** @throws NoteError */
export function parseVerifierKey(text: string): VerifierKey {
  const [name = '', id = '', ...encoded] = text.trim().split('+')
  const bytes = parseBase64(encoded.join('+'))
  const type = Object.values(signatureTypes).find((known) => known === bytes?.[0])
  if (!isKeyName(name) || !bytes || type === undefined || bytes.length !== publicKeyBytes + 1)
    throw new NoteError('that is no Ed25519 key of a log or witness, such as example.com/log+530d903a+A…')
  const key = verifierKey(name, type, bytes.subarray(1))
  if (Buffer.from(key.keyId).toString('hex') !== id)
    throw new NoteError('the id in the middle of the key does not belong to it: a character may be missing')
  return key
}

/** @returns the signature of a log or of another author over the text of a note */
export function signNote(name: string, privateKey: KeyObject, text: string): NoteSignature {
  const keyId = keyIdOf(name, signatureTypes.ed25519, publicBytesOf(privateKey))
  return { name, keyId, signature: signBytes(privateKey, Buffer.from(text)) }
}

/** @returns the signatures of a note that a key made */
export const signaturesOf = ({ signatures }: Note, { name, keyId }: VerifierKey): NoteSignature[] =>
  signatures.filter((signature) => signature.name === name && Buffer.compare(signature.keyId, keyId) === 0)

/**
 * Verifies a note. Signatures of other keys are ignored, as the specification demands.
 * @param keys any of which suffices
 * @throws NoteError when none of them signed it, or a signature of one of them is wrong
 */
export function verifyNote(note: Note, keys: readonly VerifierKey[]): void {
  const message = Buffer.from(note.text)
  const made = keys.flatMap((key) => signaturesOf(note, key).map(({ signature }) => ({ key, signature })))
  if (made.length === 0) throw new NoteError('no trusted key signed it')
  for (const { key, signature } of made)
    if (!verifyBytes(key.publicKey, message, signature))
      throw new NoteError(`the signature of ${key.name} is wrong`)
}
