import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Storage } from '../app/index.ts'

/**
 * Keeps it in a file that only its user can read. A write is complete or does not happen: a crash leaves the former text.
 * @param path for example in `app.getPath('userData')` of Electron, or below `~/.config`
 */
export function fileStorage(path: string): Storage {
  let writes = 0
  return {
    async read() {
      try {
        return await readFile(path, 'utf8')
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    async write(text) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const draft = `${path}.${process.pid}-${++writes}.tmp`
      const file = await open(draft, 'w', 0o600)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    },
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'
