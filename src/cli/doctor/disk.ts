import { open, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Check, type CheckResult, codeOf } from './check.ts'

const mega = 1024 ** 2
/** Below this, the stores may stop accepting writes at any moment. */
const leastFree = 200 * mega
/** Below this, doctor warns. */
const littleFree = 2048 * mega

/** Checks that the data directory has space, is writable, and that a write reaches the disk. */
export const diskCheck = (dataDirectory: string): Check => ({
  name: 'disk',
  run: () => checkDisk(dataDirectory),
})

async function checkDisk(dataDirectory: string): Promise<CheckResult> {
  const directory = await nearestThatExists(dataDirectory)
  const { bavail, bsize, ffree, files } = await statfs(directory)
  const free = bavail * bsize
  try {
    const syncMs = await writeThrough(directory)
    return judgeSpace({ directory, free, hasFiles: files === 0 || ffree > 0, syncMs })
  } catch (error) {
    return { ok: false, required: true, ...whyNotWritten(directory, error) }
  }
}

/** Judges the free space. @param hasFiles whether the file system has free inodes */
export function judgeSpace(found: {
  directory: string
  free: number
  hasFiles: boolean
  syncMs: number
}): CheckResult {
  const { directory, free, hasFiles, syncMs } = found
  const detail = `${sizeOf(free)} free in ${directory}; a synced write takes ${syncMs.toFixed(1)} ms`
  if (!hasFiles) {
    const remedy = 'remove files from the file system, or recreate it with more inodes'
    return { ok: false, required: true, detail: `no inodes left in ${directory}`, remedy }
  }
  if (free >= littleFree) return { ok: true, required: true, detail }
  return {
    ok: false,
    required: free < leastFree,
    detail,
    remedy:
      'free up space on the file system, or move the data to a larger one: see docs/operating/back-up.md',
  }
}

async function nearestThatExists(directory: string): Promise<string> {
  try {
    await statfs(directory)
    return directory
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || directory === dirname(directory)) throw error
    return nearestThatExists(dirname(directory))
  }
}

/** Writes and syncs a file, and removes it. @returns the duration of the write, in milliseconds */
async function writeThrough(directory: string): Promise<number> {
  const path = join(directory, `.doctor-${process.pid}`)
  const file = await open(path, 'w', 0o600)
  try {
    // Unlinked while it is open, so that it disappears with this process in any case.
    await rm(path)
    const before = performance.now()
    await file.write('keyledger doctor')
    await file.sync()
    return performance.now() - before
  } finally {
    await file.close()
  }
}

function whyNotWritten(directory: string, error: unknown): Pick<CheckResult, 'detail' | 'remedy'> {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
      return {
        detail: `this user cannot write to ${directory}`,
        remedy: 'change its owner, or set KEYLEDGER_DATA_DIR to a directory that this user can write to',
      }
    case 'EROFS':
      return {
        detail: `${directory} is on a read-only file system`,
        remedy: 'mount a writable volume, or set KEYLEDGER_DATA_DIR to one',
      }
    case 'ENOSPC':
    case 'EDQUOT':
      return { detail: `the disk of ${directory} is full`, remedy: 'free up space there' }
    default:
      return {
        detail: `a write to ${directory} failed: ${codeOf(error) ?? String(error)}`,
        remedy: 'check the system log for disk errors',
      }
  }
}

const sizeOf = (bytes: number): string =>
  bytes >= 1024 * mega ? `${(bytes / (1024 * mega)).toFixed(1)} GB` : `${Math.floor(bytes / mega)} MB`
