import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { auditLock } from '../../../projections/database/advisory-locks.ts'
import { withOwnConnection } from '../../../projections/runner/own-connection.ts'
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
export async function runAuditSchedule(
  db: Pool,
  signal: AbortSignal,
  options: AuditScheduleOptions,
): Promise<void> {
  const { pollMs = 60_000, retryMs = 5000, onFailure } = options
  while (!signal.aborted) {
    const waitMs = await auditIfDue(db, signal, options).then(
      () => pollMs,
      (error: unknown) => {
        onFailure(error)
        return retryMs
      },
    )
    await setTimeout(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

async function auditIfDue(db: Pool, signal: AbortSignal, options: AuditScheduleOptions): Promise<void> {
  if (!(await isDue(db, options))) return
  await withOwnConnection(db, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      auditLock,
    ])
    // Another process is doing it, or has just done it.
    if (!rows[0]?.locked || !(await isDue(client, options))) return
    await run(client, signal, options)
  })
}

async function isDue(db: Pool | ClientBase, { at, now }: AuditScheduleOptions): Promise<boolean> {
  const { last } = await readAuditHistory(db)
  return isAuditDue(last, now(), at)
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
