import type { Pool } from 'pg'
import {
  type DueAttempt,
  isAnyScheduled,
  listDueAttempts,
  listDueAttemptsOf,
  type Receiver,
} from '../../projections/deliveries/due.ts'
import { createTurnLookup, type HasToWait, listDueAttemptsAfter } from '../../projections/deliveries/turns.ts'
import { createWakeSignal, type WakeSignal } from '../async/wake-signal.ts'
import { absentDelivery, evolveDelivery, type KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { Channel } from '../domain/deliveries/events.ts'
import type { LogEntry, Recorded } from '../domain/recorded.ts'
import { deliveryIdIn } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import type { DispatchFeed } from './feed.ts'
import { createInFlight, type InFlight, maxOfEach } from './in-flight.ts'
import { createSweeps, type Sweeps, sweepMs } from './sweeps.ts'

export type Publisher = {
  /** Called for each log entry, so that new deliveries are published without a poll. */
  onEntry(entry: LogEntry): void
  run(signal: AbortSignal): Promise<void>
}

/**
 * Publishes due attempts. The schedule is a read model; the state in memory only saves queries.
 * @param lostAfterMs longer than an attempt may take: one that was published before that and is not done was
 *   lost, and is published again
 */
export function createPublisher(
  { db, now, feed, untilVisible }: Ports<'db' | 'now' | 'untilVisible'> & { feed: DispatchFeed },
  channels: readonly Channel[],
  onFailure: (error: unknown) => void,
  { lostAfterMs = 20_000 } = {},
): Publisher {
  const wakeSignal = createWakeSignal()
  const inFlight = createInFlight(lostAfterMs)
  const hasToWait = createTurnLookup(db)
  const fresh: KnownDelivery[] = []
  const ended: Ended[] = []
  const sweeps = createSweeps()
  let latest = -1n
  /** A standby publisher ignores log entries. */
  let isRunning = false

  function onEntry(entry: LogEntry): void {
    if (!isRunning || !isOfDelivery(entry)) return
    latest = entry.position
    if (sweeps.soon()) wakeSignal.wake()
    // A replayed delivery waits for the next sweep: replays leave live deliveries alone.
    if (entry.event.type === 'ReplayAsked') return
    if (entry.event.type === 'DeliveryScheduled') {
      const delivery = evolveDelivery(absentDelivery, entry.event)
      if (delivery.status !== 'absent' && channels.includes(delivery.channel)) fresh.push(delivery)
    } else {
      const one = endedBy(entry)
      if (one) ended.push(one)
      if (isDueAtOnce(entry)) sweeps.atOnce()
      else if (!one || !(one.isLast || inFlight.hasMore(one.deliveryId))) return
    }
    wakeSignal.wake()
  }

  const publish = (jobs: readonly DueAttempt[]) => publishAdmitted(feed, inFlight, jobs)

  /**
   * An attempt leaves its slot only when the read models know that it has ended: otherwise they would show it
   * as due once more, and it would take a slot without work.
   * @returns the deliveries that have ended
   */
  async function freeSlots(): Promise<string[]> {
    const known = ended.length
    const last = ended.at(-1)
    if (last) await untilVisible(last.position)
    const done = ended.splice(0, known)
    for (const { deliveryId, failed } of done) inFlight.done(deliveryId, failed)
    return done.filter(({ isLast }) => isLast).map(({ deliveryId }) => deliveryId)
  }

  /**
   * Publishes the next delivery of a license when one has ended. One that had to wait is looked up once more, when the
   * read models show it: the one before it may have ended in the meantime. If it has not, its end comes later in the log
   * than the position that they show.
   */
  async function publishNext(deliveryIds: readonly string[]): Promise<void> {
    if (deliveryIds.length === 0) return
    await untilVisible(latest)
    const due = await listDueAttemptsAfter(db, now().toISOString(), deliveryIds)
    await publish(due.filter(({ channel }) => channels.includes(channel)))
  }

  async function poll(): Promise<void> {
    // The first attempt does not wait for the read models, unless one before it is pending in them.
    const { first, waiting } = await byTurn(hasToWait, fresh.splice(0))
    await publish(first)
    await publishNext([...waiting, ...(await freeSlots())])
    const receivers = inFlight.withFreeSlots()
    const isSweep = sweeps.isDue()
    if (receivers.length === 0 && !isSweep) return
    // Set before the wait, so that a redelivery requested meanwhile triggers another sweep.
    if (isSweep) sweeps.begin()
    // Attempts that were not admitted above must be visible to the query.
    const shown = latest
    await untilVisible(shown)
    const moment = now().toISOString()
    await publish(await attemptsOf(db, moment, receivers, inFlight))
    if (!isSweep) return
    inFlight.forgetLost()
    // One more than the limit, so that a receiver with more is noticed.
    await publish(await listDueAttempts(db, moment, { channels, maxOfEach: maxOfEach + 1 }))
    // An entry that came meanwhile may have scheduled one.
    if (!(await isAnyScheduled(db)) && shown === latest) sweeps.rest()
  }

  async function run(signal: AbortSignal): Promise<void> {
    isRunning = true
    await pollUntil(signal, poll, sweeps, wakeSignal, onFailure)
    isRunning = false
  }
  return { onEntry, run }
}

async function attemptsOf(
  db: Pool,
  moment: string,
  receivers: readonly Receiver[],
  inFlight: InFlight,
): Promise<DueAttempt[]> {
  if (receivers.length === 0) return []
  const due = await listDueAttemptsOf(db, moment, receivers, { except: inFlight.of(receivers), maxOfEach })
  inFlight.noteFound(receivers, due)
  return due
}

async function pollUntil(
  signal: AbortSignal,
  poll: () => Promise<void>,
  sweeps: Sweeps,
  wakeSignal: WakeSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await poll()
      failures = 0
    } catch (error) {
      onFailure(error)
      failures++
    }
    if (failures === 0) await wakeSignal.wait(sweeps.inMs(), signal)
    // While a store does not respond, wake signals are ignored, since they would only add load.
    else await createWakeSignal().wait(sweepMs * 2 ** Math.min(failures, 4), signal)
  }
}

async function publishAdmitted(
  feed: DispatchFeed,
  inFlight: InFlight,
  jobs: readonly DueAttempt[],
): Promise<void> {
  const admitted = jobs.filter((job) => inFlight.admit(job))
  if (admitted.length === 0) return
  try {
    await feed.publish(admitted)
  } catch (error) {
    for (const { deliveryId } of admitted) inFlight.done(deliveryId, undefined)
    throw error
  }
}

/** The first attempts of new deliveries, without those that wait for one before them. */
async function byTurn(
  hasToWait: HasToWait,
  deliveries: readonly KnownDelivery[],
): Promise<{ first: DueAttempt[]; waiting: string[] }> {
  const waits = await Promise.all(deliveries.map(hasToWait))
  return {
    first: deliveries
      .filter((_, index) => !waits[index])
      .map(({ deliveryId, channel, tenantId, endpointId }) => ({
        deliveryId,
        attempt: 1,
        channel,
        tenantId,
        endpointId,
      })),
    waiting: deliveries.filter((_, index) => waits[index]).map(({ deliveryId }) => deliveryId),
  }
}

const isOfDelivery = (entry: LogEntry): entry is Recorded<'delivery'> =>
  entry.readable && entry.category === 'delivery'

/** An ended attempt; `failed` is undefined if its event does not show it. `isLast`: the delivery has ended. */
type Ended = { deliveryId: string; failed: boolean | undefined; isLast: boolean; position: bigint }

const endedBy = ({ event, stream, position }: Recorded<'delivery'>): Ended | undefined =>
  event.type === 'RedeliveryAsked'
    ? undefined
    : {
        deliveryId: deliveryIdIn(stream),
        failed: event.type === 'DeliveryAttempted' ? event.data.error !== null : undefined,
        isLast: event.type === 'DeliverySucceeded' || event.type === 'DeliveryAbandoned',
        position,
      }

/** An interrupted attempt is most often repeated at once. */
const isDueAtOnce = ({ event }: Recorded<'delivery'>): boolean =>
  event.type === 'RedeliveryAsked' || event.type === 'DeliveryAttemptInterrupted'
