import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { readAuditHistory } from '../../notary/audit/runs.ts'

/**
 * Adds the metrics of the scheduled audits of the log to a registry.
 * @returns a function that updates them; without the database they keep their last values
 */
export function measureAudits(db: Pool, registry: Registry): () => Promise<void> {
  const problems = new Gauge({
    name: 'keyledger_audit_problems',
    help: 'Problems that the last scheduled audit of the log has found',
    registers: [registry],
  })
  const lastClean = new Gauge({
    name: 'keyledger_audit_last_success_timestamp_seconds',
    help: 'Start time of the last scheduled audit of the log that found no problem; 0 if there is none',
    registers: [registry],
  })
  return async () => {
    const history = await readAuditHistory(db).catch(() => undefined)
    if (history === undefined) return
    problems.set(history.lastDone?.report?.problems.length ?? 0)
    lastClean.set(history.lastClean ? Date.parse(history.lastClean.startedAt) / 1000 : 0)
  }
}
