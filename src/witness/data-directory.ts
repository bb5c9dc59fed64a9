import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
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
