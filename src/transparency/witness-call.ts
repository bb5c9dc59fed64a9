import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { type Note, NoteError, parseBase64, parseNote } from './note/note.ts'
import { type Hash, hashBytes } from './tree/edge.ts'

/** A call of add-checkpoint. */
export type AddCheckpoint = { old: number; proof: readonly Hash[]; note: Note; checkpoint: Checkpoint }

const maxHashes = 63

/**
 * @returns undefined for text that is no such call
 * @see https://c2sp.org/tlog-witness
 */
export function parseAddCheckpoint(body: string): AddCheckpoint | undefined {
  const end = body.indexOf('\n\n')
  const [first = '', ...lines] = body.slice(0, Math.max(end, 0)).split('\n')
  const old = /^old (0|[1-9]\d*)$/.exec(first)?.[1]
  if (old === undefined || !Number.isSafeInteger(Number(old)) || lines.length > maxHashes) return undefined
  const proof = lines.map(parseBase64).filter((hash) => hash?.length === hashBytes)
  if (proof.length !== lines.length) return undefined
  try {
    const note = parseNote(body.slice(end + 2))
    return {
      old: Number(old),
      proof: proof.filter((hash) => hash !== undefined),
      note,
      checkpoint: parseCheckpoint(note.text),
    }
  } catch (error) {
    if (error instanceof NoteError) return undefined
    throw error
  }
}

/** @returns the body of a call of add-checkpoint */
export function formatAddCheckpoint(old: number, proof: readonly Hash[], checkpoint: string): string {
  const lines = proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('')
  return `old ${String(old)}\n${lines}\n${checkpoint}`
}
