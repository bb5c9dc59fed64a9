import { createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { dispatchLock } from '../../projections/database/advisory-locks.ts'
import { findCorrelation } from '../../projections/deliveries/queries.ts'
import type { Config } from '../config.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { createMailChannel } from '../mail/channel.ts'
import { traceDeliveries } from '../tracing/deliveries.ts'
import type { MasterKey } from '../vault/master-key.ts'
import { attemptsAtOnce, type Channels, createAttempts } from '../webhooks/dispatcher.ts'
import type { DispatchFeed, Handler } from '../webhooks/feed.ts'
import { createLocalFeed } from '../webhooks/local-feed.ts'
import { createNatsFeed, type Feed } from '../webhooks/nats-feed.ts'
import { createPublisher } from '../webhooks/publisher.ts'
import { createWebhookChannel } from '../webhooks/webhook-channel.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { baseUrlOf } from './start/own-address.ts'
import { type Stores, webhookRules } from './stores.ts'

export type Dispatching = {
  onEntry(entry: LogEntry): void
  /** Resolves once the signal has aborted and the running attempts have ended. */
  finished: Promise<unknown>
}

/**
 * Makes the due deliveries. With NATS, any number of processes share the work; without it, one process does all of
 * it, and another takes over when that one ends.
 */
export function startDispatching(
  config: Config,
  { ports, masterKey, appendGate, tracing }: Stores,
  log: Logger,
  nats: Feed | undefined,
  signal: AbortSignal,
): Dispatching {
  const feed = nats ? feedThrough(nats, log, masterKey) : createLocalFeed()
  const webhook = createWebhookChannel(ports, webhookRules(config))
  const mail = createMailChannel(ports, baseUrlOf(config))
  const traced = tracing && traceDeliveries(tracing, (deliveryId) => findCorrelation(ports.db, deliveryId))
  const channels: Channels = traced
    ? { webhook: traced.channel('webhook', webhook), mail: traced.channel('mail', mail) }
    : { webhook, mail }
  const publisher = createPublisher({ ...ports, feed }, ['webhook', 'mail'], (err) =>
    log.warn({ err }, 'delivery.not_published'),
  )
  const attempts = createAttempts(ports, channels, ({ delivery, error: err }) =>
    log.warn({ err, delivery }, 'delivery.not_attempted'),
  )
  // While the ledger is frozen, no attempt is made: it could not be recorded and would be repeated.
  const whenOpen: Handler = async (job) => {
    await appendGate.untilOpen(signal)
    if (signal.aborted) throw new Error('the dispatcher is stopping')
    await attempts.make(job)
  }
  const make = traced?.handler(whenOpen) ?? whenOpen
  const work = async (until: AbortSignal) => {
    await Promise.all([publisher.run(until), feed.consume(make, attemptsAtOnce, until)])
  }
  const finished = nats ? work(signal) : oneAtATime(ports.db, dispatchLock, signal, work)
  const onEntry = (entry: LogEntry) => {
    traced?.onEntry(entry)
    attempts.onEntry(entry)
    publisher.onEntry(entry)
  }
  return { onEntry, finished: closeAfter(webhook, finished, signal) }
}

/** Ledgers that share a NATS server use separate streams, named by a hash of the ledger's own key. */
function feedThrough(nats: Feed, log: Logger, { derivedIds }: MasterKey): DispatchFeed {
  const own = createHmac('sha256', derivedIds).update('nats stream').digest('hex').slice(0, 12)
  return createNatsFeed(nats.connection, `keyledger_${own}`, {
    onFailure: (err) => log.warn({ err }, 'nats.feed_interrupted'),
  })
}

/** Running attempts may take this long to end. The next dispatcher repeats an attempt that was cut off. */
const drainMs = 2000

/** Closing the channel cuts off attempts that take longer than {@link drainMs}. */
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
