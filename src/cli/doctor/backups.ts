import type { Pool } from 'pg'
import { type BackupHistory, backupProblem, readBackupHistory } from '../../backup/history.ts'
import type { Schedule } from '../../backup/schedule.ts'
import type { Check, CheckResult } from './check.ts'

/** Checks that the scheduled backups are made. */
export const backupsCheck = (db: Pool, schedule: Schedule): Check => ({
  name: 'backups',
  run: async () => judgeBackups(await readBackupHistory(db), new Date(), schedule.intervalMs),
})

/** Judges the history of the backups. Requests are served without backups, so a failure is only a warning. */
function judgeBackups(history: BackupHistory, now: Date, intervalMs: number): CheckResult {
  const problem = backupProblem(history, now, intervalMs)
  const { last, lastGood } = history
  if (problem === undefined) {
    const detail = lastGood ? `last backup: ${lastGood.startedAt}` : 'no backup yet'
    return { ok: true, required: false, detail }
  }
  const remedy = last?.problem
    ? 'fix the problem; keyledger retries every ten minutes'
    : 'check that a process with the role reactions runs with KEYLEDGER_BACKUP_DIR, and read its log'
  const detail = last?.problem ? `${problem}: ${last.problem}` : problem
  return { ok: false, required: false, detail, remedy }
}
