import type { ClientBase, Pool } from 'pg'

/** A scheduled backup. Without an end it is running, or was interrupted. */
export type BackupRun = {
  startedAt: string
  endedAt: string | null
  file: string
  problem: string | null
}

/** The last scheduled backup, and the last successful one. */
export type BackupHistory = { last: BackupRun | undefined; lastGood: BackupRun | undefined }

export async function readBackupHistory(db: Pool | ClientBase): Promise<BackupHistory> {
  const { rows } = await db.query<BackupRun & { good: boolean }>(
    `select * from (
       (select started_at as "startedAt", ended_at as "endedAt", file, problem, false as good
        from operations.backups order by started_at desc limit 1)
       union all
       (select started_at, ended_at, file, problem, true
        from operations.backups where ended_at is not null and problem is null order by started_at desc limit 1)
     ) found`,
  )
  const find = (wanted: boolean) => {
    const found = rows.find(({ good }) => good === wanted)
    return (
      found && {
        startedAt: found.startedAt,
        endedAt: found.endedAt,
        file: found.file,
        problem: found.problem,
      }
    )
  }
  return { last: find(false), lastGood: find(true) }
}

export async function recordBackupStart(
  db: Pool | ClientBase,
  run: { id: string; at: string; file: string },
): Promise<void> {
  await db.query('insert into operations.backups (id, started_at, file) values ($1, $2, $3)', [
    run.id,
    run.at,
    run.file,
  ])
}

/** How many runs are kept. */
const maxRuns = 1000

export async function recordBackupEnd(
  db: Pool | ClientBase,
  id: string,
  ended: { at: string; bytes: number | null; events: number | null; problem: string | null },
): Promise<void> {
  await db.query(
    'update operations.backups set ended_at = $2, bytes = $3, events = $4, problem = $5 where id = $1',
    [id, ended.at, ended.bytes, ended.events, ended.problem],
  )
  await db.query(
    'delete from operations.backups where id in (select id from operations.backups order by started_at desc offset $1)',
    [maxRuns],
  )
}

/** After a failed or interrupted run the next attempt does not wait for the whole interval. */
const retryMs = 10 * 60_000

/** Whether a backup is due, given that none is running. */
export function isBackupDue(last: BackupRun | undefined, now: Date, intervalMs: number): boolean {
  if (last === undefined) return true
  const isGood = last.endedAt !== null && last.problem === null
  const waitMs = isGood ? intervalMs : Math.min(intervalMs, retryMs)
  return now.getTime() >= Date.parse(last.startedAt) + waitMs
}

/**
 * Describes a problem with the backups; undefined when there is none. A backup counts as late after two
 * intervals.
 */
export function backupProblem(
  { last, lastGood }: BackupHistory,
  now: Date,
  intervalMs: number,
): string | undefined {
  if (last?.problem) return `the backup started at ${last.startedAt} failed`
  const reference = lastGood ?? last
  if (reference && now.getTime() - Date.parse(reference.startedAt) > 2 * intervalMs) {
    return lastGood
      ? `the last successful backup started at ${lastGood.startedAt}`
      : `no backup has finished since ${reference.startedAt}`
  }
  return undefined
}
