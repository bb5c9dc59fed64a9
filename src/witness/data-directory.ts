import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Another process uses the directory: two witnesses with one key could sign different trees. */
export class DirectoryInUse extends Error {}

/**
 * Creates the directory of a witness, and locks it until the process ends. The operating system releases the lock, also when
 * the process is killed.
 * @returns a function that unlocks it
 * @throws DirectoryInUse
 */
export function lockDirectory(directory: string): () => void {
  mkdirSync(join(directory, 'logs'), { recursive: true, mode: 0o700 })
  // SQLite has such locks on every platform. The file has no content.
  const lock = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    throw new DirectoryInUse(
      `Another process uses ${directory}. A witness runs once: stop the other one, or give each a directory of its own.`,
      { cause: error },
    )
  }
  return () => {
    lock.close()
  }
}

/** The calls by which a file is written; tests stop between them. */
export type FileCalls = {
  openSync: (path: string, flags: string, mode?: number) => number
  writeSync: (file: number, content: string) => number
  fsyncSync: (file: number) => void
  closeSync: (file: number) => void
  renameSync: (from: string, to: string) => void
}

const ofNode: FileCalls = { openSync, writeSync, fsyncSync, closeSync, renameSync }

/**
 * Replaces the content of a file. Whenever the process or the machine stops, the file has the old content or the new
 * one; after the return it has the new one. Only its owner may read it.
 */
export function replaceFile(path: string, content: string, calls: FileCalls = ofNode): void {
  const draft = `${path}.draft`
  withFile(calls, draft, 'w', (file) => {
    const bytes = Buffer.byteLength(content)
    if (calls.writeSync(file, content) !== bytes) throw new Error(`${draft} could not be written as a whole`)
    calls.fsyncSync(file)
  })
  calls.renameSync(draft, path)
  // The new name is durable once the directory is.
  withFile(calls, dirname(path), 'r', (directory) => {
    calls.fsyncSync(directory)
  })
}

function withFile(calls: FileCalls, path: string, flags: string, use: (file: number) => void): void {
  const file = calls.openSync(path, flags, 0o600)
  try {
    use(file)
  } finally {
    calls.closeSync(file)
  }
}
