import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

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
