import type { FastifyBaseLogger } from 'fastify'
import type { Logger } from 'pino'
import type { Metrics } from '../api/system/metrics.ts'
import type { Config } from '../config.ts'
import { createCursors } from '../http/cursor.ts'
import { type Listening, listen } from '../http/listening.ts'
import { joinLimits } from '../limits/limits.ts'
import { CommandRefused } from '../terminal/exit-codes.ts'
import type { Feed } from '../webhooks/nats.ts'
import { createApp } from './http.ts'
import { createReadiness } from './readiness.ts'
import { baseUrlOf, whyNotListening } from './start/own-address.ts'
import type { Stores } from './stores.ts'

/**
 * Serves the role `api` on open stores.
 * @param metrics undefined measures this process alone
 * @throws CommandRefused when it cannot listen
 */
export async function serveApi(
  config: Config,
  stores: Stores,
  log: Logger,
  feed: Feed | undefined,
  metrics?: Metrics,
): Promise<Listening> {
  const { limits, leave } = await joinLimits(stores.db, config.limits, (err) =>
    log.warn({ err }, 'limits.not_shared'),
  )
  try {
    const app = await createApp({
      services: stores.services,
      cursors: createCursors(stores.masterKey.cursors),
      cookieKey: stores.masterKey.cookies,
      readiness: createReadiness(stores.services, feed, { backups: config.backups, clocks: stores.clocks }),
      baseUrl: baseUrlOf(config),
      limits,
      trustProxy: config.trustProxy,
      connections: config.connections,
      metricsToken: config.metricsToken,
      metrics,
      tracing: stores.tracing,
      log: log as FastifyBaseLogger,
    })
    const listening = await listen(app, config).catch(async (error: unknown) => {
      await app.close()
      throw new CommandRefused(whyNotListening(error, config))
    })
    const close = async () => {
      await listening.close()
      await leave()
    }
    return { ...listening, close }
  } catch (error) {
    await leave()
    throw error
  }
}
