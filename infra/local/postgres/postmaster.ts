import { readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { commandLineOf, isAlive, workingDirectoryOf } from './process-table.ts'

/** A running server, as described by its `postmaster.pid`. */
export type Postmaster = {
  readonly pid: number
  readonly socketDirectory: string
  readonly status: 'starting' | 'stopping' | 'ready' | 'standby'
}

const PidFile = z.object({
  /** Negative for the single-user mode, which accepts no connections. */
  pid: z.coerce
    .number()
    .int()
    .refine((pid) => pid !== 0),
  socketDirectory: z.string(),
  status: z.enum(['starting', 'stopping', 'ready', 'standby']).catch('starting'),
})

/** Finds the server that runs on this cluster; undefined when none does. */
export function findPostmaster(data: string): Postmaster | undefined {
  const found = readPidFile(data)
  return found && found.pid > 0 && isPostmasterOf(found.pid, data) === true ? found : undefined
}

/** Postgres writes the file line by line, so the socket directory and the status may be missing. */
function readPidFile(data: string): Postmaster | undefined {
  let lines: string[]
  try {
    lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return undefined
  }
  const [pid, , , , socketDirectory, , , status] = lines.map((line) => line.trim())
  return PidFile.safeParse({ pid, socketDirectory: socketDirectory ?? '', status }).data
}

/** Whether the process is a server on this cluster; undefined when the system does not say. */
function isPostmasterOf(pid: number, data: string): boolean | undefined {
  if (!isAlive(pid)) return false
  // A server's working directory is its cluster's, even after a rename.
  const runsIn = workingDirectoryOf(pid)
  if (runsIn !== undefined) return runsIn === realpathSync(data)
  return commandLineOf(pid)?.includes(` -D ${data} `)
}

/**
 * Removes a `postmaster.pid` whose pid now belongs to another program, as after a crash of the machine or in a
 * restarted container. Postgres would take that program for a server and refuse to start. It detects other
 * stale files by itself.
 */
export function removeMisleadingPidFile(data: string): void {
  const found = readPidFile(data)
  if (!found) return
  const pid = Math.abs(found.pid)
  if (isAlive(pid) && isPostmasterOf(pid, data) === false) {
    rmSync(join(data, 'postmaster.pid'), { force: true })
  }
}
