import { setTimeout } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import type { Role } from '../app/roles.ts'
import { joinStack } from '../app/start/stack.ts'
import { defaultWorkers } from '../app/workers/sizes.ts'
import type { Workers } from '../app/workers/workers.ts'
import type { Config } from '../config.ts'
import { exitCode } from '../terminal/exit-codes.ts'
import { printToStderr } from '../terminal/output.ts'

/** How long running requests may take to finish after Ctrl-C. */
const drainMs = 15_000
/** Loading code does not give way to anything else, so the embedded parts are spawned before. */
const headStartMs = 200

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
  const isMonitored = config.metricsToken !== undefined
  const workers =
    count > 1 ? (await import('../app/workers/workers.ts')).startWorkers(count, log, isMonitored) : undefined
  // The embedded parts start while this process loads its code.
  const stack = joinStack(config, (message) => log.info(message), { supervise: true })
  // A failure is reported by the start, which also stops the workers.
  const joined = stack.catch(() => undefined)
  const starting = Promise.race([joined, setTimeout(headStartMs)]).then(async () => {
    const { start } = await import('../app/start/start.ts')
    return start(config, log, { ownRoles, name, workers, stack }, (error) => {
      log.fatal({ err: error }, 'log.wrong')
      printToStderr(error.message)
      void end(starting, grace, exitCode.unavailable)
    })
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
  await starting.catch(async (error: unknown) => {
    grace.uninstall()
    await joined.then((parts) => parts?.leave()).catch(() => undefined)
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

/** Ends the process when its parent has died: another server may already do the same. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit(exitCode.unavailable))
  process.channel?.unref()
}
