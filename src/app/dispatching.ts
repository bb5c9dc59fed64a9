import { createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { dispatchLock } from '../../projections/database/advisory-locks.ts'
import { findCorrelation } from '../../projections/deliveries/queries.ts'
import type { Config } from '../config.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { createMailChannel } from '../mail/channel.ts'
import { traceDeliveries } from '../tracing/deliveries.ts'
import type { MasterKey } from '../vault/master-key.ts'
import { type Channels, createAttempts, triesAtOnce } from '../webhooks/dispatcher.ts'
import type { DispatchFeed, Handler } from '../webhooks/feed.ts'
import { createLocalFeed } from '../webhooks/local-feed.ts'
import type { Feed } from '../webhooks/nats.ts'
import { createNatsFeed } from '../webhooks/nats-feed.ts'
import { createPublisher } from '../webhooks/publisher.ts'
import { resolveByDns, resolveBySystem } from '../webhooks/resolve.ts'
import { createWebhookChannel } from '../webhooks/webhook-channel.ts'
import type { Stores } from './stores.ts'

export type Dispatching = {
  onEntry(entry: LogEntry): void
  /** Resolves when the signal has aborted and the tries that were being made have ended. */
  finished: Promise<unknown>
}

/**
 * Makes the deliveries that are due. With NATS any number of processes share the work; without it one of them does it
 * all, and another takes over when it ends.
 */
export function startDispatching(
  config: Config,
  { services, masterKey, appendGate, tracing }: Stores,
  log: Logger,
  nats: Feed | undefined,
  signal: AbortSignal,
): Dispatching {
  const feed = nats ? feedThrough(nats, log, masterKey) : createLocalFeed()
  const allowPrivate = config.webhookAllowPrivate
  const resolve = allowPrivate ? resolveBySystem : resolveByDns
  const webhook = createWebhookChannel(services, { resolve, rules: { allowPrivate } })
  const mail = createMailChannel(services)
  const traced = tracing && traceDeliveries(tracing, (deliveryId) => findCorrelation(services.db, deliveryId))
  const channels: Channels = traced
    ? { webhook: traced.channel('webhook', webhook), mail: traced.channel('mail', mail) }
    : { webhook, mail }
  const publisher = createPublisher({ ...services, feed }, ['webhook', 'mail'], (err) =>
    log.warn({ err }, 'delivery.not_published'),
  )
  const attempts = createAttempts(services, channels, ({ delivery, error: err }) =>
    log.warn({ err, delivery }, 'delivery.not_attempted'),
  )
  // A try that could not be recorded would be made again, so while the ledger is frozen none is made.
  const whenOpen: Handler = async (job) => {
    await appendGate.untilOpen(signal)
    if (signal.aborted) throw new Error('the dispatcher is stopping')
    await attempts.make(job)
  }
  const make = traced?.handler(whenOpen) ?? whenOpen
  const work = async (until: AbortSignal) => {
    await Promise.all([publisher.run(until), feed.consume(make, triesAtOnce, until)])
  }
  const finished = nats ? work(signal) : oneAtATime(services.db, signal, work)
  const onEntry = (entry: LogEntry) => {
    traced?.onEntry(entry)
    attempts.onEntry(entry)
    publisher.onEntry(entry)
  }
  return { onEntry, finished: closeAfter(webhook, finished, signal) }
}

/** Ledgers that share a NATS have streams of their own, named by what only one ledger has. */
function feedThrough(nats: Feed, log: Logger, { derivedIds }: MasterKey): DispatchFeed {
  const own = createHmac('sha256', derivedIds).update('nats stream').digest('hex').slice(0, 12)
  return createNatsFeed(nats.connection, `keyledger_${own}`, {
    onFailure: (err) => log.warn({ err }, 'nats.feed_interrupted'),
  })
}

/** So long tries that are being made may take to end; one that is cut off is made again by the next dispatcher. */
const drainMs = 2000

/** Closing the channel cuts off the tries that take longer than that. */
async function closeAfter(
  channel: { close(): Promise<void> },
  tries: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.race([tries, drained(signal)])
  await channel.close()
  await tries
}

async function drained(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  await setTimeout(drainMs, undefined, { ref: false })
}

const lockRetryMs = 1000

/** Works while this process holds the lock, which ends with its connection. */
async function oneAtATime(
  db: Pool,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await whileLocked(db, signal, work).catch(() => undefined)
    await setTimeout(lockRetryMs, undefined, { signal }).catch(() => undefined)
  }
}

async function whileLocked(
  db: Pool,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const connection = await db.connect()
  const lost = new AbortController()
  const onError = () => lost.abort()
  connection.on('error', onError)
  try {
    const { rows } = await connection.query<{ locked: boolean }>(
      'select pg_try_advisory_lock($1) as locked',
      [dispatchLock],
    )
    if (rows[0]?.locked) await work(AbortSignal.any([signal, lost.signal]))
  } finally {
    connection.off('error', onError)
    // Ending the connection lets go of the lock whatever state it is in.
    connection.release(true)
  }
}
