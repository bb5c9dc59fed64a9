import type { KeyObject } from 'node:crypto'
import { publicBytesOf, signatureTypes, signBytes, verifyBytes } from './keys.ts'
import { keyIdOf, type Note, NoteError, type NoteSignature } from './note.ts'
import { signaturesOf, type VerifierKey } from './verifier.ts'

const timestampBytes = 8

/**
 * Cosigns a checkpoint: the witness states that it is the largest consistent tree that it has seen.
 * @param text the body of the checkpoint
 * @param seconds since the Unix epoch
 * @see https://c2sp.org/tlog-cosignature
 */
export function cosign(name: string, privateKey: KeyObject, text: string, seconds: number): NoteSignature {
  const timestamp = Buffer.alloc(timestampBytes)
  timestamp.writeBigUInt64BE(BigInt(seconds))
  return {
    name,
    keyId: keyIdOf(name, signatureTypes.cosignature, publicBytesOf(privateKey)),
    signature: Buffer.concat([timestamp, signBytes(privateKey, cosignedMessage(text, seconds))]),
  }
}

const cosignedMessage = (text: string, seconds: number): Uint8Array =>
  Buffer.from(`cosignature/v1\ntime ${String(seconds)}\n${text}`)

/**
 * @returns when a witness cosigned a checkpoint, in Unix seconds; undefined if it did not
 * @throws NoteError for a cosignature of the witness that is wrong
 */
export function cosignedAt(note: Note, witness: VerifierKey): number | undefined {
  const times = signaturesOf(note, witness).map(({ signature }) => {
    if (signature.length <= timestampBytes) throw new NoteError(`the signature of ${witness.name} is wrong`)
    const seconds = Number(Buffer.from(signature).readBigUInt64BE())
    const message = cosignedMessage(note.text, seconds)
    if (!verifyBytes(witness.publicKey, message, signature.subarray(timestampBytes)))
      throw new NoteError(`the signature of ${witness.name} is wrong`)
    return seconds
  })
  return times.length === 0 ? undefined : Math.max(...times)
}
