import { setTimeout } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { frozenSince } from '../app/readiness.ts'
import { type Role, showRunning } from '../app/running-roles.ts'
import { greet } from '../app/start/first-start.ts'
import { noteConfiguration } from '../app/start/running-configuration.ts'
import { openStores, type Stores } from '../app/stores.ts'
import { defaultWorkers } from '../app/workers/sizes.ts'
import type { Workers } from '../app/workers/workers.ts'
import { createUndo } from '../async/undo.ts'
import type { Config } from '../config.ts'
import { readFreeze } from '../freeze/freeze.ts'
import type { WrongLog } from '../ledger/log-check.ts'
import { exitCode } from '../terminal/exit-codes.ts'
import { printToStderr } from '../terminal/output.ts'

/** How long running requests may take to finish after Ctrl-C. */
const drainMs = 15_000

/**
 * Runs the server until it is stopped.
 * @param config with the port that will be listened on
 * @param name the name of the workspace that a first start creates
 */
export async function serve(
  config: Config,
  log: Logger,
  ownRoles: Role[],
  workersOption: number | undefined,
  name: string | undefined,
): Promise<void> {
  const count = ownRoles.includes('api') ? (workersOption ?? config.workers ?? defaultWorkers()) : 1
  // Started early: the workers load their code while the stores are opened.
  const workers = count > 1 ? (await import('../app/workers/workers.ts')).startWorkers(count, log) : undefined
  const starting = start(config, log, { ownRoles, name }, workers, (error) => {
    log.fatal({ err: error }, 'log.wrong')
    printToStderr(error.message)
    void end(starting, grace, exitCode.unavailable)
  })
  // Registered before the start, so that an interrupted start also stops the embedded parts.
  const grace = closeWithGrace(
    { delay: drainMs, logger: false, skip: replaceOnHangUp(workers) },
    async ({ err, signal }) => {
      if (err) log.fatal({ err }, 'process.failed')
      log.info({ signal }, 'Stopping after the running requests have finished')
      const stop = await starting.catch(() => undefined)
      try {
        await stop?.()
        log.info('Stopped')
      } catch (error) {
        log.error({ err: error }, 'stop.incomplete')
        throw error
      } finally {
        log.flush()
      }
    },
  )
  await starting.catch((error: unknown) => {
    grace.uninstall()
    throw error
  })
}

/**
 * SIGHUP replaces the workers, unless the controlling terminal was closed.
 * @returns the signals that do not stop the server
 */
function replaceOnHangUp(workers: Workers | undefined): 'SIGHUP'[] {
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  if (!workers || hasTerminal) return []
  process.on('SIGHUP', () => void workers.replaceAll())
  return ['SIGHUP']
}

/** Ends the process once it has stopped, or after its time limit. */
async function end(
  starting: Promise<() => Promise<void>>,
  grace: { uninstall(): void },
  code: number,
): Promise<void> {
  grace.uninstall()
  const stopped = starting.then((stop) => stop())
  await Promise.race([stopped, setTimeout(drainMs)]).catch(() => undefined)
  process.exit(code)
}

/** Runs beside the start, which does not wait for clocks. */
async function warnAboutClocks({ clocks }: Stores, log: Logger): Promise<void> {
  const { ok, detail } = await clocks.health()
  if (detail !== undefined) log[ok ? 'warn' : 'error']({ detail }, 'clocks.differ')
}

/** @returns a function that stops the server */
async function start(
  config: Config,
  log: Logger,
  { ownRoles, name }: { ownRoles: Role[]; name: string | undefined },
  workers: Workers | undefined,
  onWrongLog: (error: WrongLog) => void,
): Promise<() => Promise<void>> {
  const undo = createUndo()
  if (workers) undo.push(() => workers.stop())
  try {
    // Loaded lazily: the HTTP code takes longer to load than most other commands take to run.
    const { startServer } = await import('../app/server.ts')
    const stores = await openStores(config, log, { supervise: { onWrongLog } })
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
    await Promise.race([stopped, setTimeout(drainMs, undefined, { ref: false })])
    throw error
  }
}

function printed(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()))
}

/** Ends the process when its parent has died: another server may already do the same. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit(exitCode.unavailable))
  process.channel?.unref()
}
