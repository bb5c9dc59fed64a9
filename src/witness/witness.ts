import { cosign } from '../transparency/note/cosignature.ts'
import { formatNote, type Note, NoteError, signatureLine } from '../transparency/note/note.ts'
import { signaturesOf, type VerifierKey, verifyNote } from '../transparency/note/verifier.ts'
import { emptyRoot, sameHash } from '../transparency/tree/edge.ts'
import { provesConsistency } from '../transparency/tree/proof.ts'
import { type AddCheckpoint, parseAddCheckpoint } from '../transparency/witness-call.ts'
import type { WitnessIdentity } from './key.ts'
import type { WitnessStore } from './store.ts'

/** A log that a witness follows: its origin, and the keys that may sign for it. */
export type WitnessedLog = { origin: string; keys: readonly VerifierKey[] }

export type WitnessOptions = {
  identity: WitnessIdentity
  logs: readonly WitnessedLog[]
  store: WitnessStore
  now: () => Date
}

/** The answer of a witness: a status of HTTP, and text. */
export type WitnessAnswer = { status: number; body: string; type?: string }

const refused = (status: number, reason: string): WitnessAnswer => ({ status, body: `${reason}\n` })

/**
 * Answers a call of add-checkpoint: cosigns a checkpoint that continues the last one that it cosigned. It is one step without
 * a pause, so two calls never see the same state; and what it signs is durable before the signature is returned.
 * @see https://c2sp.org/tlog-witness
 */
export function addCheckpoint(options: WitnessOptions, body: string): WitnessAnswer {
  const { identity, logs, store, now } = options
  const call = parseAddCheckpoint(body)
  if (!call) return refused(400, 'the body is no call of add-checkpoint')
  const { note, checkpoint } = call
  const log = logs.find(({ origin }) => origin === checkpoint.origin)
  if (!log) return refused(404, 'the witness does not follow this log')
  if (!isSigned(note, log)) return refused(403, 'no trusted key of the log signed the checkpoint')
  if (call.old > checkpoint.size) return refused(400, 'the old size is larger than the checkpoint')
  const last = store.read(checkpoint.origin)?.checkpoint ?? { size: 0, root: emptyRoot() }
  if (call.old !== last.size) return { status: 409, body: `${String(last.size)}\n`, type: 'text/x.tlog.size' }
  if (!continues(call, last)) return refused(422, 'the checkpoint does not continue the last one')
  const seconds = Math.floor(now().getTime() / 1000)
  const signature = cosign(identity.key.name, identity.privateKey, note.text, seconds)
  const own = log.keys.flatMap((key) => signaturesOf(note, key))
  store.write(checkpoint.origin, formatNote({ text: note.text, signatures: [...own, signature] }))
  return { status: 200, body: `${signatureLine(signature)}\n` }
}

function isSigned(note: Note, { keys }: WitnessedLog): boolean {
  try {
    verifyNote(note, keys)
    return true
  } catch (error) {
    if (error instanceof NoteError) return false
    throw error
  }
}

function continues({ checkpoint, proof }: AddCheckpoint, last: { size: number; root: Uint8Array }): boolean {
  if (checkpoint.size === 0 && !sameHash(checkpoint.root, emptyRoot())) return false
  return provesConsistency(last, checkpoint, proof)
}
