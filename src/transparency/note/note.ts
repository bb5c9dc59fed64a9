import { createHash } from 'node:crypto'
import { isKeyName, type SignatureType } from './keys.ts'

/** A signature line: who signed, and what. */
export type NoteSignature = { name: string; keyId: Uint8Array; signature: Uint8Array }

/** Text with signatures. `text` ends with a newline. */
export type Note = { text: string; signatures: readonly NoteSignature[] }

/** Text that is no note, or a note that no trusted key signed. */
export class NoteError extends Error {}

const keyIdBytes = 4
/** More than a log with all its witnesses has. */
const maxSignatures = 100
const maxBytes = 1_000_000

/**
 * Parses a signed note. Nothing is verified.
 * @see https://c2sp.org/signed-note
 * @throws NoteError
 */
export function parseNote(message: string): Note {
  if (message.length > maxBytes) throw new NoteError('the note is too long')
  if (!isWellFormed(message) || hasControl(message)) throw new NoteError('the note has forbidden characters')
  const end = message.lastIndexOf('\n\n')
  if (end === -1 || !message.endsWith('\n')) throw new NoteError('the note has no signatures')
  const lines = message.slice(end + 2, -1).split('\n')
  if (lines.length > maxSignatures) throw new NoteError('the note has too many signatures')
  return { text: message.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

/** Whether text is UTF-8. The verifier in evidence archives runs on Node 18, which lacks the method of strings. */
const isWellFormed = (text: string): boolean => Buffer.from(text).toString() === text

/** Control characters other than a newline. */
const hasControl = (text: string): boolean =>
  Array.from(text).some((character) => character < ' ' && character !== '\n')

/** @throws NoteError */
function parseSignature(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...rest] = line.split(' ')
  const bytes = parseBase64(encoded)
  if (dash !== '—' || rest.length > 0 || !isKeyName(name) || !bytes || bytes.length <= keyIdBytes)
    throw new NoteError('the note has a malformed signature')
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) }
}

/** @returns the line of a signature, without its newline */
export const signatureLine = ({ name, keyId, signature }: NoteSignature): string =>
  `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}`

/** @returns the note as it is published */
export const formatNote = ({ text, signatures }: Note): string =>
  `${text}\n${signatures.map((signature) => `${signatureLine(signature)}\n`).join('')}`

/** @returns the first four bytes of the hash that identifies a key */
export function keyIdOf(name: string, type: SignatureType, publicKey: Uint8Array): Uint8Array {
  const hash = createHash('sha256').update(`${name}\n`).update(Uint8Array.of(type)).update(publicKey)
  return hash.digest().subarray(0, keyIdBytes)
}

/** @returns the bytes of standard base64 with padding; undefined for anything else */
export function parseBase64(encoded: string): Buffer | undefined {
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes : undefined
}
