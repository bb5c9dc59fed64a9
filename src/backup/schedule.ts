import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientBase, Pool } from 'pg'
import { backupLock } from '../../projections/database/advisory-locks.ts'
import { runWhenDue } from '../../projections/runner/parked.ts'
import { isBackupDue, readBackupHistory, recordBackupEnd, recordBackupStart } from './history.ts'

/** Where and how often backups are made, and how many are kept. */
export type Schedule = { directory: string; intervalMs: number; keep: number }

type Made = { bytes: number; events: number }

type Options = {
  schedule: Schedule
  /** Writes one backup. Its error message is shown to operators. */
  make: (file: string, signal: AbortSignal) => Promise<Made>
  now: () => Date
  onMade: (made: Made & { file: string }) => void
  onFailure: (error: unknown) => void
  /** How often to check whether a backup is due. */
  pollMs?: number
  /** How soon to check again after a database error. */
  retryMs?: number
}

/**
 * Makes a backup whenever one is due, until the signal aborts. Several processes may run this: a lock in the
 * database lets one of them make it, and the others see that it was made.
 */
export function runBackupSchedule(db: Pool, signal: AbortSignal, options: Options): Promise<void> {
  const { schedule, now, onFailure, pollMs, retryMs } = options
  return runWhenDue(db, signal, {
    lock: backupLock,
    isDue: async (connection) => {
      const { last } = await readBackupHistory(connection)
      return isBackupDue(last, now(), schedule.intervalMs)
    },
    run: (client) => run(client, signal, options),
    onFailure,
    pollMs,
    retryMs,
  })
}

async function run(client: ClientBase, signal: AbortSignal, options: Options): Promise<void> {
  const { schedule, make, now, onMade, onFailure } = options
  const id = randomUUID()
  const startedAt = now().toISOString()
  const file = join(schedule.directory, nameOfBackup(startedAt))
  await recordBackupStart(client, { id, at: startedAt, file })
  const ended = (made: Partial<Made>, problem: string | null) =>
    recordBackupEnd(client, id, {
      at: now().toISOString(),
      bytes: made.bytes ?? null,
      events: made.events ?? null,
      problem,
    })
  try {
    mkdirSync(schedule.directory, { recursive: true, mode: 0o700 })
    removePartial(schedule.directory)
    const made = await make(file, signal)
    await ended(made, null)
    onMade({ file, ...made })
    removeOld(schedule)
  } catch (error) {
    // A process that shuts down leaves the run without an end, and the next process retries it soon.
    if (signal.aborted) return
    await ended({}, error instanceof Error ? error.message : String(error))
    onFailure(error)
  }
}

const nameOfBackup = (startedAt: string): string =>
  `keyledger-${startedAt.replace(/\.\d+Z$/, 'Z').replaceAll(':', '-')}.backup`

const scheduledName = /^keyledger-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/
const partialName = /^\.keyledger-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup\.partial$/

/** Removes the partial files of killed processes. Only the holder of the lock writes here. */
function removePartial(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (partialName.test(name)) rmSync(join(directory, name), { force: true })
  }
}

/** The names sort by time. */
function removeOld({ directory, keep }: Schedule): void {
  const names = readdirSync(directory).filter((name) => scheduledName.test(name))
  for (const name of names.sort().slice(0, -keep)) rmSync(join(directory, name), { force: true })
}
