import type { Logger } from 'pino'
import { keepReadModelsCurrent } from '../../projections/runner/projector-role.ts'
import { createUndo } from '../async/undo.ts'
import { createWakeSignal } from '../async/wake-signal.ts'
import type { Config } from '../config.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { keepSweeping } from '../idempotency/idempotency.ts'
import { connectFeed, type Feed } from '../webhooks/nats-feed.ts'
import { checkRecipients, makeBackups } from './backups.ts'
import { startDispatching } from './dispatching.ts'
import { auditOnSchedule, notarize } from './notarizing.ts'
import { startProcesses } from './processes.ts'
import type { Role } from './roles.ts'
import type { Stores } from './stores.ts'

export type RunningServer = {
  /** The URL it listens on; undefined without the role `api`. */
  address: string | undefined
  /** Takes no new requests, finishes the running ones and stops every role. The stores stay open. */
  stop(): Promise<void>
}

/** Runs the roles on open stores. @throws CommandRefused when it cannot listen */
export async function startServer(
  config: Config,
  stores: Stores,
  log: Logger,
  roles: readonly Role[],
): Promise<RunningServer> {
  const stopping = new AbortController()
  const undo = createUndo()
  const stop = async () => {
    stopping.abort()
    await undo.run()
  }
  try {
    const feed = connectNats(config, log)
    if (feed) undo.push(() => feed.close())
    undo.push(keepSweeping(stores.ports.idempotency, (err) => log.warn({ err }, 'idempotency.sweep_failed')))
    const subscribers: Subscriber[] = []
    if (roles.includes('reactions')) {
      await checkRecipients(config)
      const processing = startProcesses(config, stores, log, stopping.signal)
      subscribers.push(processing.onEntry)
      undo.push(() => processing.finished)
      const backingUp = makeBackups(config, stores.db, log, stopping.signal)
      undo.push(() => backingUp)
    }
    if (roles.includes('dispatcher')) {
      const dispatching = startDispatching(config, stores, log, feed, stopping.signal)
      subscribers.push(dispatching.onEntry)
      undo.push(() => dispatching.finished)
    }
    if (roles.includes('notary')) {
      const news = createWakeSignal()
      subscribers.push(news.wake)
      const notarizing = notarize(config, stores, log, news, stopping.signal)
      undo.push(() => notarizing)
      const auditing = auditOnSchedule(config, stores.db, log, stopping.signal)
      undo.push(() => auditing)
    }
    if (roles.includes('projector')) {
      const projecting = runProjector(stores, log, subscribers, stopping.signal)
      undo.push(() => projecting)
    } else if (subscribers.length > 0) {
      const listening = listen(stores, log, subscribers, stopping.signal)
      undo.push(() => listening)
    }
    if (!roles.includes('api')) return { address: undefined, stop }
    // Loaded lazily: a process without the role `api` does not need the HTTP code.
    const { serveApi } = await import('./api.ts')
    const { address, close } = await serveApi(config, stores, log, feed)
    undo.push(close)
    return { address, stop }
  } catch (error) {
    await stop().catch((err: unknown) => log.warn({ err }, 'stop.incomplete'))
    throw error
  }
}

export function connectNats({ natsUrl }: Config, log: Logger): Feed | undefined {
  return natsUrl === undefined
    ? undefined
    : connectFeed(natsUrl, (err) => log.warn({ err }, 'nats.connect_failed'))
}

/** Receives each new entry of the log. Earlier or missed entries are found through the read models. */
type Subscriber = (entry: LogEntry) => void

async function* passedTo(
  subscribers: readonly Subscriber[],
  entries: AsyncIterable<LogEntry>,
): AsyncIterable<LogEntry> {
  for await (const entry of entries) {
    for (const onEntry of subscribers) onEntry(entry)
    yield entry
  }
}

/**
 * Follows the log in a process without the projector. The followed entries also feed the tail, which saves the read
 * models from reading them again.
 */
async function listen(
  { tail }: Stores,
  log: Logger,
  subscribers: readonly Subscriber[],
  signal: AbortSignal,
): Promise<void> {
  const entries = tail.follow(await tail.head(), signal, (err, retryInMs) =>
    log.warn({ err, retry_in_ms: retryInMs }, 'log.subscription_lost'),
  )
  for await (const entry of entries) for (const onEntry of subscribers) onEntry(entry)
}

async function runProjector(
  { tail, readModels }: Stores,
  log: Logger,
  subscribers: readonly Subscriber[],
  signal: AbortSignal,
): Promise<void> {
  const checkpoint = await readModels.checkpoint()
  const entries = tail.follow(checkpoint < 0n ? undefined : checkpoint, signal, (err, retryInMs) =>
    log.warn({ err, retry_in_ms: retryInMs }, 'projector.subscription_lost'),
  )
  await keepReadModelsCurrent(passedTo(subscribers, entries), readModels, (err) =>
    log.warn({ err }, 'projector.behind'),
  )
}
