import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileCalls, replaceFile } from '../files/durable-file.ts'
import { type Checkpoint, parseCheckpoint } from '../transparency/checkpoint.ts'
import { cosignedAt } from '../transparency/note/cosignature.ts'
import { NoteError, parseNote } from '../transparency/note/note.ts'
import type { VerifierKey } from '../transparency/note/verifier.ts'

/** The latest checkpoint of each log that the witness has cosigned, in a file each. */
export type WitnessStore = {
  /** @returns undefined for a log of which it has cosigned nothing. @throws StateDamaged */
  read: (origin: string) => { checkpoint: Checkpoint; note: string } | undefined
  /** After the return, it is durable. */
  write: (origin: string, note: string) => void
}

/** What the witness knew cannot be read. To go on without it could mean to sign a second history. */
export class StateDamaged extends Error {}

/** @returns the name under which a log's checkpoint is kept and served: C2SP tlog-witness */
export const originHash = (origin: string): string => createHash('sha256').update(origin).digest('hex')

/** @param own the key of the witness: what it reads has to be cosigned by it */
export function openStore(directory: string, own: VerifierKey, calls?: FileCalls): WitnessStore {
  const pathOf = (origin: string): string => join(directory, 'logs', originHash(origin))
  return {
    read(origin) {
      const path = pathOf(origin)
      if (!existsSync(path)) return undefined
      const text = readFileSync(path, 'utf8')
      return { checkpoint: checked(text, origin, own, path), note: text }
    },
    write(origin, note) {
      replaceFile(pathOf(origin), note, calls)
    },
  }
}

function checked(text: string, origin: string, own: VerifierKey, path: string): Checkpoint {
  try {
    const note = parseNote(text)
    const checkpoint = parseCheckpoint(note.text)
    if (checkpoint.origin === origin && cosignedAt(note, own) !== undefined) return checkpoint
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
  }
  throw new StateDamaged(
    `${path} is not what this witness wrote. Restore it from a backup that is as new as its last signature; ` +
      'without it the witness does not know what it has signed.',
  )
}
