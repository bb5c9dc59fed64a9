import type { Pool } from 'pg'
import { z } from 'zod'
import { type Role, roles } from '../../app/roles.ts'
import { healthOfRoles, rolesNotRunning } from '../../app/running-roles.ts'
import { judgeClocks } from '../../app/start/clock-check.ts'
import { compareWithRunning } from '../../app/start/running-configuration.ts'
import { type BackupHistory, backupProblem, readBackupHistory } from '../../backup/history.ts'
import type { Schedule } from '../../backup/schedule.ts'
import type { Config } from '../../config.ts'
import type { OtherClock } from '../../ledger/connection/clock-difference.ts'
import { type AuditHistory, readAuditHistory } from '../../notary/audit/runs.ts'
import { type Check, type CheckResult, codeOf } from './check.ts'
import { urlOf } from './port.ts'

/** Says in which variables the running servers differ from this shell, whose values all other checks take. */
export const configurationCheck = (dataDirectory: string): Check => ({
  name: 'configuration',
  run: () => {
    const servers = compareWithRunning(dataDirectory, process.env)
    const other = servers.filter(({ different }) => different.length > 0)
    if (other.length === 0) {
      const detail = servers.length === 0 ? 'no server is running here' : 'as in the running server'
      return Promise.resolve({ ok: true, required: false, detail })
    }
    const detail = other
      .map(({ pid, different }) => `process ${pid} runs with another ${different.join(', ')}`)
      .join('; ')
    const remedy = 'this report is about the variables of this shell: run doctor with those of the server'
    return Promise.resolve({ ok: false, required: false, detail, remedy })
  },
})

/** Checks that some process runs each role, if any process runs at all. */
export const rolesCheck = (db: Pool): Check => ({
  name: 'roles',
  run: async () => judgeRoles(await rolesNotRunning(db)),
})

/** Judges which roles no process runs. */
function judgeRoles(missing: readonly Role[]): CheckResult {
  if (missing.length === roles.length) return { ok: true, required: false, detail: 'no server is running' }
  const detail = healthOfRoles(missing)?.detail
  if (detail === undefined) return { ok: true, required: false, detail: 'each runs somewhere' }
  const remedy = `start a process with serve --roles ${missing.join(',')}: see docs/operating/deploy.md#roles`
  return { ok: false, required: false, detail, remedy }
}

const Ready = z.object({
  parts: z.looseObject({ workers: z.object({ ok: z.boolean(), detail: z.string().optional() }).optional() }),
})

/** Reports the workers of the running server, and which have died. */
export const workersCheck = ({ host, port }: Pick<Config, 'host' | 'port'>): Check => ({
  name: 'workers',
  async run(signal) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(5000)])
    try {
      const answer = await fetch(`${urlOf(host, port)}/readyz`, { signal: within, redirect: 'manual' })
      const { workers } = Ready.parse(await answer.json()).parts
      if (!workers) return { ok: true, required: false, detail: 'one process serves, or none' }
      const { ok, detail = '' } = workers
      const remedy = "look for worker.died in the server's log"
      return { ok, required: false, detail, ...(!ok && { remedy }) }
    } catch (error) {
      const detail =
        codeOf(error) === 'ECONNREFUSED' ? 'no server is running' : 'the server does not report it'
      return { ok: true, required: false, detail }
    }
  },
})

/** Compares this machine's clock with those of the stores and providers. */
export const clockCheck = (others: () => Promise<readonly OtherClock[]>): Check => ({
  name: 'clock',
  run: async () => judgeClocks(await others()),
})

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

/** Checks that the log is audited on schedule, and that the last audit found nothing. */
export const auditsCheck = (db: Pool): Check => ({
  name: 'audits',
  run: async () => judgeAudits(await readAuditHistory(db), new Date()),
})

/** Two days: audits are daily. */
const lateMs = 2 * 86_400_000

/** Judges the history of the audits. Requests are served from what the log says now, so a finding is only a warning here. */
export function judgeAudits({ last, lastDone, lastClean }: AuditHistory, now: Date): CheckResult {
  const warning = (detail: string, remedy: string) => ({ ok: false, required: false, detail, remedy })
  const [problem] = lastDone?.report?.problems ?? []
  if (lastDone && problem)
    return warning(
      `the audit of ${lastDone.startedAt} found that ${problem.says}`,
      'keep the evidence, and see docs/operating/alerts/keyledger-history-changed.md',
    )
  if (last?.failure)
    return warning(
      `the audit of ${last.startedAt} failed: ${last.failure}`,
      'fix the problem; keyledger retries every ten minutes',
    )
  if (lastClean && now.getTime() - Date.parse(lastClean.startedAt) > lateMs)
    return warning(
      `the last clean audit started at ${lastClean.startedAt}`,
      'check that a process with the role notary runs with KEYLEDGER_AUDIT_VERIFY_AT, and read its log',
    )
  const detail = lastClean ? `last clean audit: ${lastClean.startedAt}` : 'no audit yet'
  return { ok: true, required: false, detail }
}
