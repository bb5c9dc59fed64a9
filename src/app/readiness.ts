import { countParked } from '../../projections/runner/parked.ts'
import { projectionLag } from '../../projections/runner/status.ts'
import { withTimeout } from '../async/timeout.ts'
import { type BackupHistory, backupProblem, readBackupHistory } from '../backup/history.ts'
import type { Schedule } from '../backup/schedule.ts'
import type { Config } from '../config.ts'
import { type Freeze, readFreeze } from '../freeze/freeze.ts'
import type { PartHealth, Readiness } from '../http/health.ts'
import { readSuspension } from '../notary/suspension.ts'
import type { Ports } from '../ports.ts'
import type { Feed } from '../webhooks/nats-feed.ts'
import type { Clocks } from './clocks.ts'
import type { Role } from './roles.ts'
import { healthOfRoles } from './running-roles.ts'

const timeLimitMs = 2000

type Others = {
  backups?: Config['backups']
  clocks?: Clocks
  /** Of a server with several processes. */
  workers?: (() => PartHealth | undefined) | undefined
  /** Which roles no process runs. */
  rolesNotRunning?: (() => Promise<Role[]>) | undefined
}

/**
 * Checks every part concurrently, each for at most two seconds. Parked streams are counted but do not affect
 * readiness, because all others are still served.
 */
export function createReadiness(
  ports: Ports<'db' | 'ledger' | 'now'>,
  feed: Feed | undefined,
  { backups, clocks, workers, rolesNotRunning }: Others = {},
): () => Promise<Readiness> {
  const { ledger, db } = ports
  return async () => {
    const [eventStore, postgres, lag, parked, freeze, history, notary, clock, missing] = await Promise.all([
      health(ledger.head()),
      health(db.query('select 1')),
      withTimeout(projectionLag(db, ledger), timeLimitMs).catch(() => undefined),
      withTimeout(countParked(db), timeLimitMs).catch(() => 0),
      withTimeout(readFreeze(db), timeLimitMs).catch(() => undefined),
      backups && withTimeout(readBackupHistory(db), timeLimitMs).catch(() => undefined),
      withTimeout(readSuspension(db), timeLimitMs).catch(() => undefined),
      clocks?.health(),
      rolesNotRunning && withTimeout(rolesNotRunning(), timeLimitMs).catch(() => []),
    ])
    const serving = workers?.()
    const running = healthOfRoles(missing ?? [])
    const parts = {
      event_store: eventStore,
      postgres,
      read_models: { ok: lag !== undefined, required: true },
      ...(freeze && { writes: { ok: false, required: false, detail: frozenSince(freeze) } }),
      ...(backups && history && { backups: healthOfBackups(history, ports.now(), backups) }),
      ...(notary && { notary: { ok: false, required: false, detail: notSigned } }),
      ...(clock && { clock }),
      ...(running && { roles: running }),
      ...(serving && { workers: serving }),
      ...(feed && { nats: { ok: feed.isConnected(), required: false } }),
    }
    return {
      parts,
      projection: { lag_events: lag?.lagEvents ?? 0, parked },
    }
  }
}

/** The reason names events, and is only for operators. */
const notSigned = 'no checkpoint can be signed; keyledger notary status says why'

/** Backups are not required to serve requests. The error itself is only for operators, in `keyledger doctor`. */
function healthOfBackups(history: BackupHistory, now: Date, { intervalMs }: Schedule): PartHealth {
  const problem = backupProblem(history, now, intervalMs)
  const detail =
    problem ?? (history.lastGood ? `last backup: ${history.lastGood.startedAt}` : 'no backup yet')
  return { ok: problem === undefined, required: false, detail }
}

async function health(answer: Promise<unknown>): Promise<PartHealth> {
  try {
    await withTimeout(answer, timeLimitMs)
    return { ok: true, required: true }
  } catch (error) {
    return { ok: false, required: true, detail: error instanceof Error ? error.name : 'does not respond' }
  }
}

/** One sentence about the freeze, shown on pages, in health and by commands. */
export const frozenSince = ({ beganAt, holdsSince, actor }: Freeze): string =>
  `${holdsSince === null ? 'freezing' : 'frozen'} by ${actor} since ${holdsSince ?? beganAt}: writes get 503; ` +
  'to end the freeze: keyledger unfreeze'
