import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { LocalStack } from '../../../infra/local/stack/stack.ts'
import { createUndo } from '../../async/undo.ts'
import type { Config } from '../../config.ts'
import { readFreeze } from '../../freeze/freeze.ts'
import type { WrongLog } from '../../ledger/log-check.ts'
import { frozenSince } from '../readiness.ts'
import type { Role } from '../roles.ts'
import { showRunning } from '../running-roles.ts'
import { startServer } from '../server.ts'
import { openStores, type Stores } from '../stores.ts'
import type { Workers } from '../workers/workers.ts'
import { greet } from './first-start.ts'
import { noteConfiguration } from './running-configuration.ts'

/** How long it may take to undo a start that failed. */
const undoMs = 15_000

/** Runs beside the start, which does not wait for clocks. */
async function warnAboutClocks({ clocks }: Stores, log: Logger): Promise<void> {
  const { ok, detail } = await clocks.health()
  if (detail !== undefined) log[ok ? 'warn' : 'error']({ detail }, 'clocks.differ')
}

type Start = {
  ownRoles: readonly Role[]
  /** The name of the workspace that a first start creates. */
  name: string | undefined
  workers: Workers | undefined
  /** The embedded parts, which are starting. */
  stack: Promise<LocalStack>
}

/**
 * Opens the stores and runs the roles.
 * @param onWrongLog called when the log turns out to be another one
 * @returns a function that stops the server
 * @throws as `openStores` does, and CommandRefused when it cannot listen
 */
export async function start(
  config: Config,
  log: Logger,
  { ownRoles, name, workers, stack }: Start,
  onWrongLog: (error: WrongLog) => void,
): Promise<() => Promise<void>> {
  const undo = createUndo()
  if (workers) undo.push(() => workers.stop())
  try {
    const stores = await openStores(config, log, { supervise: { onWrongLog }, stack })
    void warnAboutClocks(stores, log)
    undo.push(() => stores.close())
    const own = workers ? ownRoles.filter((role) => role !== 'api') : ownRoles
    const server = await startServer(config, stores, log, own)
    undo.push(() => server.stop())
    undo.push(noteConfiguration(config.dataDirectory, process.env))
    const stopping = new AbortController()
    const shown = showRunning(stores.db, ownRoles, stopping.signal)
    undo.push(() => {
      stopping.abort()
      return shown
    })
    if (workers) undo.push(() => workers.stop())
    const address = workers
      ? await workers.begin(config.host, { port: config.port, ...stores.addresses }, stores.readModels)
      : server.address
    if (address !== undefined) {
      const baseUrl = config.baseUrl ?? `http://localhost:${new URL(address).port}`
      await greet(config, stores, baseUrl, printed, name)
    }
    const freeze = await readFreeze(stores.db)
    if (freeze)
      log.warn({ began_at: freeze.beganAt, reason: freeze.reason }, `The ledger is ${frozenSince(freeze)}`)
    log.info({ address, roles: ownRoles, data_directory: config.dataDirectory }, 'Ready')
    return undo.run
  } catch (error) {
    const stopped = undo.run().catch((err: unknown) => log.warn({ err }, 'stop.incomplete'))
    await Promise.race([stopped, setTimeout(undoMs, undefined, { ref: false })])
    throw error
  }
}

function printed(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()))
}
