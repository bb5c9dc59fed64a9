import { wholeNumberOf } from '../numbers.ts'
import { type Checkpoint, parseCheckpoint } from '../transparency/checkpoint.ts'
import { cosignedAt } from '../transparency/note/cosignature.ts'
import { signatureTypes } from '../transparency/note/keys.ts'
import { type Note, NoteError, parseNote } from '../transparency/note/note.ts'
import {
  parseVerifierKey,
  signaturesOf,
  type VerifierKey,
  verifyNote,
} from '../transparency/note/verifier.ts'
import { NotProved, readingOf } from './not-proved.ts'

/** Whom the verifier trusts. It knows them from somewhere else than from what it checks. */
export type Trust = {
  /** The keys of the log, any of which suffices: a key that is replaced overlaps with the next. */
  keys: readonly VerifierKey[]
  witnesses: readonly VerifierKey[]
  /** How many of the witnesses have to have cosigned a checkpoint. */
  threshold: number
}

/** A checkpoint whose signatures were verified. */
export type TrustedCheckpoint = Checkpoint & {
  /** As it was published. */
  note: string
  /** The witnesses that cosigned it, and when. */
  cosigned: { witness: string; at: string }[]
}

/** A key or a number cannot be used. The message says why. */
export class TrustUnusable extends Error {}

/**
 * @param keys as the log publishes them, in the form of C2SP signed-note
 * @param threshold a number as it was typed; all witnesses when it is undefined
 * @throws TrustUnusable, NumberInvalid
 */
export function trustIn(keys: readonly string[], witnesses: readonly string[], threshold?: string): Trust {
  const trust = {
    keys: keys.map((key) => keyOf(key, signatureTypes.ed25519, 'a log')),
    witnesses: witnesses.map((key) => keyOf(key, signatureTypes.cosignature, 'a witness')),
    threshold:
      threshold === undefined
        ? witnesses.length
        : wholeNumberOf('--threshold', threshold, 0, witnesses.length),
  }
  if (trust.keys.length === 0) throw new TrustUnusable('A key of the log is needed. Give it with --key.')
  const distinct = new Set(trust.witnesses.map(({ publicKey }) => Buffer.from(publicKey).toString('base64')))
  if (distinct.size !== trust.witnesses.length) throw new TrustUnusable('The same witness is given twice.')
  return trust
}

function keyOf(text: string, type: VerifierKey['type'], whose: string): VerifierKey {
  try {
    const key = parseVerifierKey(text)
    if (key.type === type) return key
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
    throw new TrustUnusable(`${text} is not usable: ${error.message}.`)
  }
  throw new TrustUnusable(`${text} is not the key of ${whose}. A log and a witness have different kinds.`)
}

/**
 * Verifies a checkpoint: its origin, the signature of the log, and the cosignatures.
 * @param what the checkpoint in words, for messages
 * @throws NotProved
 */
export function openCheckpoint(text: string, trust: Trust, what = 'The checkpoint'): TrustedCheckpoint {
  const note = readingOf(what, () => parseNote(text))
  const checkpoint = readingOf(what, () => parseCheckpoint(note.text))
  verifyLog(note, checkpoint.origin, trust, what)
  const cosigned = trust.witnesses.flatMap((witness) => {
    const seconds = genuine(what, () => cosignedAt(note, witness))
    return seconds === undefined ? [] : [{ witness: witness.name, at: momentOf(seconds) }]
  })
  if (cosigned.length < trust.threshold)
    throw new NotProved(
      'too_few_witnesses',
      `${what} of ${String(checkpoint.size)} events is cosigned by ${String(cosigned.length)} of the witnesses, and ` +
        `${String(trust.threshold)} are required. Get a newer one, or ask the operator why the witnesses did not sign.`,
    )
  return { ...checkpoint, note: text, cosigned }
}

const momentOf = (seconds: number): string => {
  const time = new Date(seconds * 1000)
  return Number.isNaN(time.getTime()) ? `second ${String(seconds)}` : time.toISOString()
}

function verifyLog(note: Note, origin: string, { keys }: Trust, what: string): void {
  const own = keys.filter(({ name }) => name === origin)
  if (own.length === 0)
    throw new NotProved(
      'foreign_key',
      `${what} is of the log ${origin}, and the given key is of ${keys.map(({ name }) => name).join(', ')}. ` +
        'Get the key of that log from its operator, or check the right log.',
    )
  if (own.every((key) => signaturesOf(note, key).length === 0))
    throw new NotProved(
      'foreign_key',
      `${what} of ${origin} is not signed by the given key, but by ${signersOf(note)}. If the operator has announced ` +
        'that the key was replaced, give the new key as well; otherwise somebody else signed it.',
    )
  genuine(what, () => {
    verifyNote(note, own)
  })
}

const signersOf = ({ signatures }: Note): string =>
  signatures.map(({ name, keyId }) => `${name}+${Buffer.from(keyId).toString('hex')}`).join(', ')

function genuine<T>(what: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
    throw new NotProved(
      'wrong_signature',
      `${what} was changed after it was signed: ${error.message}. Get it again.`,
    )
  }
}
