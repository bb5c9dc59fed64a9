import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Far more than the databases of a test run have at one time. */
const enough = 4 * 1024 ** 3

/**
 * Where the Postgres of the tests keeps its files: in memory if there is room, else where temporary files are. Each test file has a
 * database of its own, a copy of hundreds of small files, and a file system on a disk takes ten times as long for it.
 */
export function memoryDirectory(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize >= enough ? '/dev/shm' : tmpdir()
  } catch {
    return tmpdir()
  }
}
