import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Another process uses the directory. */
export class DirectoryInUse extends Error {}

/**
 * Locks a directory until the process ends. The operating system releases the lock, also when the process is killed.
 * @param advice what to do when another process has it
 * @returns a function that unlocks it
 * @throws DirectoryInUse
 */
export function lockDirectory(directory: string, advice: string): () => void {
  // SQLite has such locks on every platform. The file has no content.
  const lock = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    throw new DirectoryInUse(`Another process uses ${directory}. ${advice}`, { cause: error })
  }
  return () => {
    lock.close()
  }
}
