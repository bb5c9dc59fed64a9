import { notaryStream } from '../../domain/streams.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type Checkpoint, parseCheckpoint } from '../../transparency/checkpoint.ts'
import { NoteError, parseNote } from '../../transparency/note/note.ts'
import { parseVerifierKey, type VerifierKey, verifyNote } from '../../transparency/note/verifier.ts'
import { parseProof } from '../../transparency/proof-file.ts'
import { sameHash } from '../../transparency/tree/edge.ts'
import { ProofError } from '../../transparency/tree/proof.ts'
import type { SignedCheckpoint } from '../checkpoints.ts'
import { type AuditProblem, treeProblem } from './findings.ts'

/** A checkpoint that somebody kept, as text, and what it is called in messages. */
export type KeptCheckpoint = { name: string; note: string }

/** @returns the checkpoint of a signed note, or in a `.tlog-proof` file. @throws NoteError, ProofError */
function checkpointIn(text: string, keys: readonly VerifierKey[]): Checkpoint {
  const note = parseNote(text.startsWith('c2sp.org/tlog-proof') ? parseProof(text).checkpoint : text)
  if (keys.length > 0) verifyNote(note, keys)
  return parseCheckpoint(note.text)
}

/** Checks the checkpoint in the database: signed by a trusted key, and about the size and root beside it. */
export function checkStored(
  stored: SignedCheckpoint,
  keys: readonly VerifierKey[],
): AuditProblem | undefined {
  try {
    const { size, root } = checkpointIn(stored.note, keys)
    if (size === stored.size && sameHash(root, stored.root)) return undefined
    return treeProblem('checkpoint', 'the signed text of the checkpoint is not about the tree beside it')
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
    if (error.message === 'no trusted key signed it')
      return treeProblem('foreign_key', 'the checkpoint is signed by another key')
    return treeProblem('checkpoint', `the checkpoint is not valid: ${error.message}`)
  }
}

/** Reads a kept checkpoint. @returns it, or what is wrong with it */
export function readKept(
  { name, note }: KeptCheckpoint,
  keys: readonly VerifierKey[],
): { checkpoint: Checkpoint; problem?: never } | { checkpoint?: never; problem: AuditProblem } {
  try {
    return { checkpoint: checkpointIn(note, keys) }
  } catch (error) {
    if (!(error instanceof NoteError || error instanceof ProofError)) throw error
    const says =
      error.message === 'no trusted key signed it'
        ? `the kept checkpoint ${name} is signed by another key`
        : `the kept checkpoint ${name} is not valid: ${error.message}`
    return { problem: treeProblem('kept_checkpoint', says) }
  }
}

/**
 * @returns every key that the log names for its checkpoints, also retired ones: a kept checkpoint may be signed by them.
 *   Events that cannot be read are passed over: the audit names them.
 */
export async function keysInLog(ledger: Pick<Ledger, 'readStream'>): Promise<VerifierKey[]> {
  const keys = new Set<string>()
  for await (const entry of ledger.readStream(notaryStream)) {
    if (entry.readable && entry.category === 'notary') keys.add(entry.event.data.key)
  }
  return [...keys].flatMap(parsedKey)
}

function parsedKey(text: string): VerifierKey[] {
  try {
    return [parseVerifierKey(text)]
  } catch (error) {
    if (error instanceof NoteError) return []
    throw error
  }
}
