import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { LocalStack } from '../../../infra/local/stack/stack.ts'
import type { OnParked } from '../../../projections/runner/apply.ts'
import { readKnownLog } from '../../../projections/runner/known-log.ts'
import { makeMissingTables, prepareReadModels } from '../../../projections/runner/prepare.ts'
import { causeOf } from '../../commands/origin.ts'
import { newId } from '../../credentials/id.ts'
import { explainRefusal, refuseUnusable } from '../../ledger/connection/refused-at-start.ts'
import { LedgerFrozen } from '../../ledger/connection/unavailable.ts'
import { identify } from '../../ledger/identity.ts'
import { connectLedger, type Ledger } from '../../ledger/ledger.ts'
import { checkLog, WrongLog } from '../../ledger/log-check.ts'
import type { LogGuard } from '../../ledger/log-guard.ts'
import { watchLog } from '../../ledger/watch.ts'
import { printToStderr } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'

export type OpenOptions = {
  /**
   * For long-running processes: embedded parts that die are restarted, and the log is compared with the read models
   * after each reconnect. `onWrongLog` is called when they do not belong together.
   */
  supervise?: { onWrongLog: (error: WrongLog) => void } | undefined
  /**
   * The caller is about to rebuild the read models from this log, so a different log is reported and not refused.
   */
  toRebuild?: boolean
  /** The embedded parts, if they are being started already. They are left with the stores. */
  stack?: Promise<LocalStack>
}

/**
 * Connects to the event store and checks that `$all` can be read.
 * @throws EventStoreRefused, LedgerUnavailable
 */
export async function reachLedger(url: string, guard: LogGuard): Promise<Ledger> {
  const ledger = connect(url, guard)
  try {
    await ledger.lastEvent()
    return ledger
  } catch (error) {
    await ledger.close()
    throw await explainRefusal(error, url, 'read $all')
  }
}

function connect(url: string, guard: LogGuard): Ledger {
  try {
    return connectLedger(url, undefined, guard)
  } catch (error) {
    return refuseUnusable(error)
  }
}

/** `connected` is the ledger without the guard that holds appends back during a freeze. */
type Parts = {
  connected: Ledger
  ledger: Ledger
  url: string
  db: Pool
  projectionDb: Pool
  onParked: OnParked
}

/**
 * Compares the log with the read models, gives the log an identity if it has none, and brings the read models up to
 * date. Nothing is written to either until they are known to belong together.
 * @throws WrongLog, EventStoreRefused, LedgerUnavailable
 */
export async function prepareLog(
  { connected, ledger, url, db, projectionDb, onParked }: Parts,
  { supervise, toRebuild = false }: OpenOptions,
): Promise<void> {
  const compared = checkLog(ledger, await readKnownLog(db))
  await (toRebuild ? compared.catch(printAdoption) : compared)
  if (toRebuild) await makeMissingTables(projectionDb)
  // A log that has an identity rejects another one, so this checks the write permission without writing.
  if ((await ledger.identity()) === undefined) await identifyLog(ledger, url)
  else if (supervise) await identifyLog(connected, url)
  if (toRebuild) return
  const progress = showProgress('Rebuilding the read models')
  await prepareReadModels(projectionDb, ledger, { onParked, onProgress: progress.update })
  progress.done()
}

/** A rebuild accepts another log, and prints that the read models were built from a different one. */
function printAdoption(error: unknown): void {
  if (!(error instanceof WrongLog)) throw error
  printToStderr(
    `${error.difference} Rebuilding from this log: events that it lacks disappear from the read models.`,
  )
}

async function identifyLog(ledger: Ledger, url: string): Promise<void> {
  const origin = { requestId: newId('req'), actor: 'system:start' }
  try {
    await identify(ledger, causeOf(origin, new Date().toISOString()))
  } catch (error) {
    // Nothing may be appended during a freeze, because the log is being copied. The next start adds the identity.
    if (error instanceof LedgerFrozen) return
    throw await explainRefusal(error, url, 'write to its streams')
  }
}

/** Compares the log with the read models after each new connection. @returns a function that stops it */
export function watchLogConnection(
  { ledger, guard, db, log }: { ledger: Ledger; guard: LogGuard; db: Pool; log: Logger },
  { onWrongLog }: NonNullable<OpenOptions['supervise']>,
): () => Promise<void> {
  const ending = new AbortController()
  const check = async () => checkLog(ledger, await readKnownLog(db))
  const watched = watchLog(ledger, guard, check, ending.signal, {
    onBreak: (err) => log.warn({ err }, 'log.connection_lost'),
    onWrong: onWrongLog,
  })
  return async () => {
    ending.abort()
    await watched
  }
}
