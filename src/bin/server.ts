import type { FastifyBaseLogger } from 'fastify'
import type { Logger } from 'pino'
import { keepProjecting } from '../../projections/runner/projector-role.ts'
import type { Config } from '../config.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { createApp } from '../http/app.ts'
import { createCursors } from '../http/cursor.ts'
import { keepSweeping } from '../idempotency/sweep.ts'
import { joinLimits } from '../limits/limits.ts'
import { confirmationReactions } from '../reactions/confirmations.ts'
import { deliveryReaction, keyReaction } from '../reactions/deliveries.ts'
import { erasureReaction } from '../reactions/erasures.ts'
import { expiryReaction } from '../reactions/expiries.ts'
import { keepReacting, type Reaction } from '../reactions/reaction.ts'
import { saleReaction } from '../reactions/sales.ts'
import { createTestPurchaseDriver } from '../reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner, testPurchaseReactions } from '../reactions/test-purchases.ts'
import { connectFeed, type Feed } from '../webhooks/nats.ts'
import { startDispatching } from './dispatching.ts'
import { CommandRefused } from './exit.ts'
import { baseUrlOf, sendTo, withRealPort } from './own-address.ts'
import { createReadiness } from './readiness.ts'
import type { Role } from './roles.ts'
import type { Stores } from './stores.ts'

export type RunningServer = {
  /** Where it listens; undefined without the role `api`. */
  address: string | undefined
  /** Takes no new requests, ends the running ones, and stops every role. The stores stay open. */
  stop(): Promise<void>
}

/** Runs the roles on stores that are already open. @throws CommandRefused when it cannot listen */
export async function startServer(
  given: Config,
  stores: Stores,
  log: Logger,
  asked: readonly Role[],
): Promise<RunningServer> {
  const refuse = (error: unknown): never => {
    throw new CommandRefused(whyNotListening(error, given))
  }
  const config = asked.includes('api') ? await withRealPort(given).catch(refuse) : given
  const stopping = new AbortController()
  const undo: (() => Promise<unknown>)[] = []
  const stop = async () => {
    stopping.abort()
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const feed = connectNats(config, log)
    if (feed) undo.push(() => feed.close())
    undo.push(
      keepSweeping(stores.services.idempotency, (err) => log.warn({ err }, 'idempotency.sweep_failed')),
    )
    const ears: Ear[] = []
    if (asked.includes('reactions')) {
      const scheduling = deliveryReaction(stores.services, ({ license, error: err }) =>
        log.error({ err, license }, 'delivery.not_scheduled'),
      )
      ears.push(scheduling.hear)
      const reacting = runReactions(config, stores, log, [scheduling], stopping.signal)
      undo.push(() => reacting)
    }
    if (asked.includes('dispatcher')) {
      const dispatching = startDispatching(config, stores, log, feed, stopping.signal)
      ears.push(dispatching.hear)
      undo.push(() => dispatching.finished)
    }
    if (asked.includes('projector')) {
      const projecting = runProjector(stores, log, ears, stopping.signal)
      undo.push(() => projecting)
    } else if (ears.length > 0) {
      const listening = listen(stores, log, ears, stopping.signal)
      undo.push(() => listening)
    }
    if (!asked.includes('api')) return { address: undefined, stop }
    const { limits, leave } = await joinLimits(stores.db, config.limits, (err) =>
      log.warn({ err }, 'limits.not_shared'),
    )
    undo.push(leave)
    const app = await createApp({
      services: stores.services,
      cursors: createCursors(stores.masterKey.cursors),
      cookieKey: stores.masterKey.cookies,
      readiness: createReadiness(stores.services, feed),
      baseUrl: baseUrlOf(config),
      limits,
      trustProxy: config.trustProxy,
      log: log as FastifyBaseLogger,
    })
    undo.push(() => app.close())
    const address = await app.listen({ port: config.port, host: config.host }).catch(refuse)
    return { address, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function connectNats({ natsUrl }: Config, log: Logger): Feed | undefined {
  return natsUrl === undefined
    ? undefined
    : connectFeed(natsUrl, (err) => log.warn({ err }, 'nats.connect_failed'))
}

/** Told of everything in the log as it comes. What was recorded before, or is missed, is found in the read models. */
type Ear = (entry: LogEntry) => void

async function* heardBy(ears: readonly Ear[], entries: AsyncIterable<LogEntry>): AsyncIterable<LogEntry> {
  for await (const entry of entries) {
    for (const ear of ears) ear(entry)
    yield entry
  }
}

/** For a process without the projector. What it pushes the read models to itself they then need not read again. */
async function listen(
  { tail }: Stores,
  log: Logger,
  ears: readonly Ear[],
  signal: AbortSignal,
): Promise<void> {
  const entries = tail.follow(await tail.head(), signal, (err, retryInMs) =>
    log.warn({ err, retry_in_ms: retryInMs }, 'log.subscription_lost'),
  )
  for await (const entry of entries) for (const ear of ears) ear(entry)
}

async function runProjector(
  { tail, readModels }: Stores,
  log: Logger,
  ears: readonly Ear[],
  signal: AbortSignal,
): Promise<void> {
  const checkpoint = await readModels.checkpoint()
  const notices = tail.follow(checkpoint < 0n ? undefined : checkpoint, signal, (err, retryInMs) =>
    log.warn({ err, retry_in_ms: retryInMs }, 'projector.subscription_lost'),
  )
  await keepProjecting(heardBy(ears, notices), readModels, (err) => log.warn({ err }, 'projector.behind'))
}

function runReactions(
  config: Config,
  { services }: Stores,
  log: Logger,
  more: readonly Reaction[],
  signal: AbortSignal,
): Promise<void> {
  const reactions = confirmationReactions(services, {
    onTrouble: ({ confirmation, error: err }) =>
      log.error({ err, confirmation }, 'confirmation.not_executed'),
  })
  const runTestPurchase = createTestPurchaseRunner(
    services,
    createTestPurchaseDriver(services, sendTo(baseUrlOf(config))),
  )
  reactions.push(
    ...testPurchaseReactions(services, runTestPurchase, ({ testPurchase, error: err }) =>
      log.error({ err, test_purchase: testPurchase }, 'test_purchase.not_run'),
    ),
  )
  reactions.push(...more, keyReaction(services))
  reactions.push(
    expiryReaction(services, ({ license, error: err }) =>
      log.error({ err, license }, 'license.end_not_recorded'),
    ),
  )
  reactions.push(
    saleReaction(services, {
      onTrouble: ({ sale, error: err }) => log.error({ err, sale }, 'sale.not_carried_on'),
    }),
    erasureReaction(services, {
      onTrouble: ({ subject, error: err }) => log.error({ err, subject }, 'erasure.not_ended'),
    }),
  )
  return keepReacting(reactions, signal, ({ reaction, error: err }) =>
    log.warn({ err, reaction }, 'reaction.failed'),
  )
}

function whyNotListening(error: unknown, { host, port }: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken. Stop what uses it, or choose another: KEYLEDGER_PORT=8081 npm start`
    case 'EACCES':
      return `Port ${port} is not allowed for this user. Choose one above 1023: KEYLEDGER_PORT=8080 npm start`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine. Set KEYLEDGER_HOST to one, for example 127.0.0.1 or 0.0.0.0`
    default:
      return `Cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`
  }
}
