import { countParked } from '../../projections/runner/parked.ts'
import { projectionLag } from '../../projections/runner/status.ts'
import { withTimeout } from '../async/timeout.ts'
import { type BackupHistory, backupProblem, readBackupHistory } from '../backup/history.ts'
import type { Schedule } from '../backup/schedule.ts'
import type { Config } from '../config.ts'
import { type Freeze, readFreeze } from '../freeze/freeze.ts'
import type { PartHealth, Readiness } from '../http/health.ts'
import type { Ports } from '../ports.ts'
import type { Feed } from '../webhooks/nats.ts'
import type { Clocks } from './clocks.ts'

const timeLimitMs = 2000

/**
 * Asks every part at once, each for no longer than two seconds. Streams that are set aside are counted and keep nothing
 * from being ready: each is one tenant's, and all the others are served as ever.
 */
export function createReadiness(
  services: Ports<'db' | 'ledger' | 'now'>,
  feed: Feed | undefined,
  { backups, clocks }: { backups?: Config['backups']; clocks?: Clocks } = {},
): () => Promise<Readiness> {
  const { ledger, db } = services
  return async () => {
    const [eventStore, postgres, lag, parked, freeze, history, clock] = await Promise.all([
      health(ledger.head()),
      health(db.query('select 1')),
      withTimeout(projectionLag(db, ledger), timeLimitMs).catch(() => undefined),
      withTimeout(countParked(db), timeLimitMs).catch(() => 0),
      withTimeout(readFreeze(db), timeLimitMs).catch(() => undefined),
      backups && withTimeout(readBackupHistory(db), timeLimitMs).catch(() => undefined),
      clocks?.health(),
    ])
    const parts = {
      event_store: eventStore,
      postgres,
      read_models: { ok: lag !== undefined, required: true },
      ...(freeze && { writes: { ok: false, required: false, detail: frozenSince(freeze) } }),
      ...(backups && history && { backups: healthOfBackups(history, services.now(), backups) }),
      ...(clock && { clock }),
      ...(feed && { nats: { ok: feed.isConnected(), required: false } }),
    }
    return {
      parts,
      projection: { lag_events: lag?.lagEvents ?? 0, parked },
    }
  }
}

/** Requests are served without backups, too. What failed is for operators alone, who ask `keyledger doctor`. */
function healthOfBackups(history: BackupHistory, now: Date, { intervalMs }: Schedule): PartHealth {
  const trouble = backupProblem(history, now, intervalMs)
  const detail =
    trouble ?? (history.lastGood ? `last backup: ${history.lastGood.startedAt}` : 'no backup yet')
  return { ok: trouble === undefined, required: false, detail }
}

async function health(answer: Promise<unknown>): Promise<PartHealth> {
  try {
    await withTimeout(answer, timeLimitMs)
    return { ok: true, required: true }
  } catch (error) {
    return { ok: false, required: true, detail: error instanceof Error ? error.name : 'does not respond' }
  }
}

/** For people, wherever the state of the ledger is shown. */
export const frozenSince = ({ beganAt, holdsSince, actor }: Freeze): string =>
  `${holdsSince === null ? 'freezing' : 'frozen'} by ${actor} since ${holdsSince ?? beganAt}: writes get 503; ` +
  'to end the freeze: keyledger unfreeze'
