import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockDirectory } from '../files/directory-lock.ts'

/**
 * Creates the directory of a witness, and locks it: two witnesses with one key could sign different trees.
 * @returns a function that unlocks it
 * @throws DirectoryInUse
 */
export function openDirectory(directory: string): () => void {
  mkdirSync(join(directory, 'logs'), { recursive: true, mode: 0o700 })
  return lockDirectory(
    directory,
    'A witness runs once: stop the other one, or give each a directory of its own.',
  )
}
