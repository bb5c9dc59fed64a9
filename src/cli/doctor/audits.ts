import type { Pool } from 'pg'
import { type AuditHistory, readAuditHistory } from '../../notary/audit/runs.ts'
import type { Check, CheckResult } from './check.ts'

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
