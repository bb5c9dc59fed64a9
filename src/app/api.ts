import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Metrics } from '../api/system/metrics.ts'
import type { Config } from '../config.ts'
import { createCursors } from '../http/cursor.ts'
import type { PartHealth } from '../http/health.ts'
import { type Listening, listen } from '../http/listening.ts'
import { joinLimits } from '../limits/limits.ts'
import { noteWhileRunning } from '../seats/noting.ts'
import { CommandRefused } from '../terminal/exit-codes.ts'
import type { Feed } from '../webhooks/nats-feed.ts'
import { createApp } from './http.ts'
import { createReadiness } from './readiness.ts'
import { rolesNotRunning } from './running-roles.ts'
import { baseUrlOf, whyNotListening } from './start/own-address.ts'
import type { Stores } from './stores.ts'

/** What a process says for all that serve together; undefined for a server that is one process. */
type Together = {
  metrics: Metrics
  health: () => PartHealth | undefined
}

/** The application, and a function that leaves the processes that share its limits and keep floating seats. */
type OpenApi = { app: FastifyInstance; leave: () => Promise<void> }

/** Serves the role `api` on open stores. @throws CommandRefused when it cannot listen */
export async function serveApi(
  config: Config,
  stores: Stores,
  log: Logger,
  feed: Feed | undefined,
): Promise<Listening & { address: string }> {
  const { app, leave } = await openApi(config, stores, log, feed)
  const listening = await listen(app, config).catch(async (error: unknown) => {
    await app.close()
    await leave()
    throw new CommandRefused(whyNotListening(error, config))
  })
  const close = async () => {
    await listening.close()
    await leave()
  }
  return { ...listening, close }
}

/** Builds the application on open stores, joins the processes that share its limits, and notes that it runs. It does not listen. */
export async function openApi(
  config: Config,
  stores: Stores,
  log: Logger,
  feed: Feed | undefined,
  together?: Together,
): Promise<OpenApi> {
  const { limits, leave: leaveLimits } = await joinLimits(stores.db, config.limits, (err) =>
    log.warn({ err }, 'limits.not_shared'),
  )
  const stopNoting = noteWhileRunning(stores.ports, (err) => log.warn({ err }, 'seats.not_noted'))
  const leave = async () => {
    await Promise.all([stopNoting(), leaveLimits()])
  }
  try {
    const app = await createApp({
      ports: stores.ports,
      cursors: createCursors(stores.masterKey.cursors),
      cookieKey: stores.masterKey.cookies,
      readiness: createReadiness(stores.ports, feed, {
        backups: config.backups,
        clocks: stores.clocks,
        workers: together?.health,
        rolesNotRunning: () => rolesNotRunning(stores.db),
      }),
      baseUrl: baseUrlOf(config),
      limits,
      trustProxy: config.trustProxy,
      connections: config.connections,
      metricsToken: config.metricsToken,
      metrics: together?.metrics,
      tracing: stores.tracing,
      log: log as FastifyBaseLogger,
    })
    return { app, leave }
  } catch (error) {
    await leave()
    throw error
  }
}
