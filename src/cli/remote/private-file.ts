import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { CommandMisused } from '../../terminal/exit-codes.ts'

/** The user's directory for settings of keyledger. */
export function configDirectory(): string {
  const { XDG_CONFIG_HOME: configHome = '', APPDATA: appData } = process.env
  if (isAbsolute(configHome)) return join(configHome, 'keyledger')
  if (process.platform === 'win32' && appData !== undefined) return join(appData, 'keyledger')
  return join(homedir(), '.config', 'keyledger')
}

/**
 * Reads a file with secrets of the user.
 * @returns undefined when it does not exist
 * @throws CommandMisused when other users may read or change it
 */
export function readPrivate(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return undefined
  // Windows has no such modes; there the user's profile directory is private.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw new CommandMisused(`Other users may read ${path}, which holds tokens. Run: chmod 600 ${path}`)
  }
  return readFileSync(path, 'utf8')
}

/** Writes a file that only the user may read. A reader sees the old content or the new one. */
export function writePrivate(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}
