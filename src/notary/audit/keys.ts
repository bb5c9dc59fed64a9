import { notaryStream } from '../../domain/streams.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { NoteError } from '../../transparency/note/note.ts'
import { parseVerifierKey, type VerifierKey } from '../../transparency/note/verifier.ts'

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
