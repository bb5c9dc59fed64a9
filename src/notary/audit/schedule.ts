import { randomUUID } from 'node:crypto'
import type { ClientBase, Pool } from 'pg'
import { auditLock } from '../../../projections/database/advisory-locks.ts'
import { runWhenDue } from '../../../projections/runner/parked.ts'
import { type AuditRun, type RunReport, readAuditHistory, recordAuditEnd, recordAuditStart } from './runs.ts'

export type AuditScheduleOptions = {
  /** Minutes after midnight, UTC. */
  at: number
  /** Compares the log with what was signed. Its error message is shown to operators. */
  audit: (signal: AbortSignal) => Promise<RunReport>
  now: () => Date
  onReport: (report: RunReport) => void
  onFailure: (error: unknown) => void
  /** How often to check whether one is due. */
  pollMs?: number
  /** How soon to check again after a database error. */
  retryMs?: number
}

/**
 * Runs the audit once a day, until the signal aborts. Several processes may run this: a lock in the database lets one of them
 * do it, and the others see that it was done.
 */
export function runAuditSchedule(
  db: Pool,
  signal: AbortSignal,
  options: AuditScheduleOptions,
): Promise<void> {
  const { at, now, onFailure, pollMs, retryMs } = options
  return runWhenDue(db, signal, {
    lock: auditLock,
    isDue: async (connection) => isAuditDue((await readAuditHistory(connection)).last, now(), at),
    run: (client) => run(client, signal, options),
    onFailure,
    pollMs,
    retryMs,
  })
}

async function run(client: ClientBase, signal: AbortSignal, options: AuditScheduleOptions): Promise<void> {
  const { audit, now, onReport, onFailure } = options
  const id = randomUUID()
  await recordAuditStart(client, id, now().toISOString())
  try {
    const report = await audit(signal)
    await recordAuditEnd(client, id, { at: now().toISOString(), report, failure: null })
    onReport(report)
  } catch (error) {
    // A process that shuts down leaves the run without an end, and the next process tries it again soon.
    if (signal.aborted) return
    const failure = error instanceof Error ? error.message : String(error)
    await recordAuditEnd(client, id, { at: now().toISOString(), report: null, failure })
    onFailure(error)
  }
}

const dayMs = 86_400_000
/** A run that failed or was interrupted is tried again after this time. */
const retryAfterMs = 10 * 60_000

/**
 * Whether an audit is due, given that none is running: there was none since the last time of day, or it was not done.
 * @param at minutes after midnight, UTC
 */
export function isAuditDue(last: AuditRun | undefined, now: Date, at: number): boolean {
  if (last === undefined) return true
  const startedAt = Date.parse(last.startedAt)
  if (last.report === null) return now.getTime() >= startedAt + retryAfterMs
  const midnight = Math.floor(now.getTime() / dayMs) * dayMs
  const today = midnight + at * 60_000
  const latest = today <= now.getTime() ? today : today - dayMs
  return startedAt < latest
}
