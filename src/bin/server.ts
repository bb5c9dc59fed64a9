import type { Logger } from 'pino'
import { keepProjecting } from '../../projections/runner/projector-role.ts'
import type { Config } from '../config.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { keepSweeping } from '../idempotency/sweep.ts'
import { approvalMailReaction } from '../reactions/approval-mails.ts'
import { confirmationReactions } from '../reactions/confirmations.ts'
import { deliveryReaction, keyReaction } from '../reactions/deliveries.ts'
import { erasureReaction } from '../reactions/erasures.ts'
import { expiryReaction } from '../reactions/expiries.ts'
import { keepReacting, type Reaction } from '../reactions/reaction.ts'
import { saleReaction } from '../reactions/sales.ts'
import { createTestPurchaseDriver } from '../reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner, testPurchaseReactions } from '../reactions/test-purchases.ts'
import { connectFeed, type Feed } from '../webhooks/nats.ts'
import { checkRecipients, makeBackups } from './backing-up.ts'
import { startDispatching } from './dispatching.ts'
import { baseUrlOf, sendTo, withRealPort } from './own-address.ts'
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
  const config = asked.includes('api') ? await withRealPort(given) : given
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
      await checkRecipients(config)
      const scheduling = deliveryReaction(stores.services, ({ license, error: err }) =>
        log.error({ err, license }, 'delivery.not_scheduled'),
      )
      ears.push(scheduling.hear)
      const reacting = runReactions(config, stores, log, [scheduling], stopping.signal)
      undo.push(() => reacting)
      const backingUp = makeBackups(config, stores.db, log, stopping.signal)
      undo.push(() => backingUp)
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
    // Only here: a process that leaves HTTP to others need not load it.
    const { serveApi } = await import('./api.ts')
    const { address, close } = await serveApi(config, stores, log, feed)
    undo.push(close)
    return { address, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

export function connectNats({ natsUrl }: Config, log: Logger): Feed | undefined {
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
  { services, appendGate }: Stores,
  log: Logger,
  more: readonly Reaction[],
  signal: AbortSignal,
): Promise<void> {
  const reactions = confirmationReactions(services, {
    onTrouble: ({ confirmation, error: err }) =>
      log.error({ err, confirmation }, 'confirmation.not_executed'),
  })
  reactions.push(
    approvalMailReaction(services, {
      baseUrl: baseUrlOf(config),
      onTrouble: ({ confirmation, error: err }) => log.warn({ err, confirmation }, 'confirmation.not_mailed'),
    }),
  )
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
      log.error({ err, license }, 'license.expiry_not_recorded'),
    ),
  )
  reactions.push(
    saleReaction(services, {
      onTrouble: ({ sale, error: err }) => log.error({ err, sale }, 'sale.not_advanced'),
    }),
    erasureReaction(services, {
      onTrouble: ({ subject, error: err }) => log.error({ err, subject }, 'erasure.not_finished'),
    }),
  )
  const onFailure = ({ reaction, error: err }: { reaction: string; error: unknown }) =>
    log.warn({ err, reaction }, 'reaction.failed')
  return keepReacting(reactions, signal, onFailure, appendGate.untilOpen)
}
