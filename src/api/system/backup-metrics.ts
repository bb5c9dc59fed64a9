import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { readBackupHistory } from '../../backup/history.ts'

/**
 * Adds the metrics of the scheduled backups to a registry.
 * @returns a function that updates them; without the database they keep their last values
 */
export function measureBackups(db: Pool, registry: Registry): () => Promise<void> {
  const lastGood = new Gauge({
    name: 'keyledger_backup_last_success_timestamp_seconds',
    help: 'Start time of the last successful scheduled backup; 0 if there is none',
    registers: [registry],
  })
  const failed = new Gauge({
    name: 'keyledger_backup_failed',
    help: '1 if the last scheduled backup failed',
    registers: [registry],
  })
  return async () => {
    const history = await readBackupHistory(db).catch(() => undefined)
    if (history === undefined) return
    lastGood.set(history.lastGood ? Date.parse(history.lastGood.startedAt) / 1000 : 0)
    failed.set(history.last?.problem ? 1 : 0)
  }
}
