import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../files/durable-file.ts'
import { type Checkpoint, parseCheckpoint } from '../transparency/checkpoint.ts'
import { NoteError, parseNote } from '../transparency/note/note.ts'
import { NotarySuspended } from './suspension.ts'

/** The last checkpoint of each log, in a place that neither a restore of the database nor one of the event store changes. */
export type KeptCheckpoints = {
  /** Where it is, in words. */
  place: string
  read: (origin: string) => (Checkpoint & { note: string }) | undefined
  /** Returns once the checkpoint would survive a power cut. */
  keep: (origin: string, note: string) => void
}

/**
 * Checkpoints in a directory, a file for each log.
 */
export function keptIn(directory: string): KeptCheckpoints {
  const pathOf = (origin: string) =>
    join(directory, `${createHash('sha256').update(origin).digest('hex')}.checkpoint`)
  return {
    place: directory,
    read(origin) {
      const note = textOf(pathOf(origin))
      return note === undefined ? undefined : { ...checkpointIn(note, pathOf(origin)), note }
    },
    keep(origin, note) {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      replaceFile(pathOf(origin), note)
    },
  }
}

function checkpointIn(note: string, path: string): Checkpoint {
  try {
    return parseCheckpoint(parseNote(note).text)
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
    throw new NotarySuspended(
      `${path} is damaged (${error.message}), so the last checkpoint is not known. Put the last one there that a witness or ` +
        'a reader has, or start another log: keyledger notary new-log',
    )
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
