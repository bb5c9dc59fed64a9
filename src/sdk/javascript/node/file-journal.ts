import { link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JournalStorage } from '../app/meters/index.ts'

/**
 * So many revisions stay. A process that has read one of them and is overtaken finds the next one there, and so cannot write it; only
 * one that was overtaken by all of them could, which it sees afterwards.
 */
const kept = 16

/**
 * Keeps a journal in a directory of its own, one file for each revision. A revision is on the disk, complete, before it has its name, and a
 * name is given once: a crash leaves the former one, and of two processes one has to read again.
 */
export function fileJournal(directory: string): JournalStorage {
  let drafts = 0
  const at = (revision: number) => join(directory, `${revision}.journal`)
  async function newest(): Promise<number[]> {
    try {
      const names = await readdir(directory)
      return names.flatMap((name) => /^([1-9]\d{0,15})\.journal$/.exec(name)?.[1] ?? []).map(Number)
    } catch (error) {
      if (isCode(error, 'ENOENT')) return []
      throw error
    }
  }

  return {
    async read() {
      for (;;) {
        const revision = Math.max(0, ...(await newest()))
        if (revision === 0) return { text: undefined, revision }
        try {
          return { text: await readFile(at(revision), 'utf8'), revision }
        } catch (error) {
          // It was overtaken and deleted since it was listed.
          if (!isCode(error, 'ENOENT')) throw error
        }
      }
    },
    async write(text, revision) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const draft = join(directory, `${process.pid}-${++drafts}.tmp`)
      try {
        await written(draft, text)
        try {
          await link(draft, at(revision + 1))
        } catch (error) {
          if (isCode(error, 'EEXIST')) return false
          throw error
        }
      } finally {
        await rm(draft, { force: true })
      }
      const all = await newest()
      if (Math.max(...all) > revision + kept) {
        await rm(at(revision + 1), { force: true })
        return false
      }
      await synced(directory)
      for (const old of all) if (old <= revision + 1 - kept) await rm(at(old), { force: true })
      return true
    },
  }
}

async function written(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The name is lasting as well; Windows has no such call, and needs none. */
async function synced(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const opened = await open(directory, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
