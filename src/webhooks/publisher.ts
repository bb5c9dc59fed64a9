import {
  type DueAttempt,
  listDueAttempts,
  listDueAttemptsOf,
  type Receiver,
} from '../../projections/deliveries/due.ts'
import { createTurnLookup, listDueAttemptsAfter } from '../../projections/deliveries/turns.ts'
import { createWakeSignal, type WakeSignal } from '../async/wake-signal.ts'
import { absentDelivery, evolveDelivery, type KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { Channel } from '../domain/deliveries/events.ts'
import type { LogEntry, Recorded } from '../domain/recorded.ts'
import { deliveryIdIn } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import type { DispatchFeed } from './feed.ts'

/**
 * The limit of published attempts per receiver, so that a slow one does not use up the slots of others. After
 * a failure the limit is lower until an attempt succeeds.
 */
const maxOfEach = 32
const maxOfFailing = 2
/** How often all due attempts are looked for, including those of other processes. */
const sweepMs = 1000

const nameOf = ({ channel, tenantId, endpointId }: Receiver): string =>
  `${channel} ${tenantId} ${endpointId ?? ''}`

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
  let sweepAt = 0
  let latest = -1n
  /** A standby publisher ignores log entries. */
  let isRunning = false

  function onEntry(entry: LogEntry): void {
    if (!isRunning || !isNews(entry)) return
    latest = entry.position
    if (entry.event.type === 'DeliveryScheduled') {
      const delivery = evolveDelivery(absentDelivery, entry.event)
      if (delivery.status !== 'absent' && channels.includes(delivery.channel)) fresh.push(delivery)
    } else {
      const one = endedBy(entry)
      if (one) ended.push(one)
      if (isDueAtOnce(entry)) sweepAt = 0
      else if (!one || !(one.isLast || inFlight.hasMore(one.deliveryId))) return
    }
    wakeSignal.wake()
  }

  async function publish(jobs: readonly DueAttempt[]): Promise<void> {
    const admitted = jobs.filter((job) => inFlight.admit(job))
    if (admitted.length === 0) return
    try {
      await feed.publish(admitted)
    } catch (error) {
      for (const { deliveryId } of admitted) inFlight.done(deliveryId, undefined)
      throw error
    }
  }

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
   * The first attempt does not wait for the read models, unless one before it is pending in them.
   * @returns the deliveries that wait for one before them
   */
  async function publishFresh(): Promise<string[]> {
    const given = await Promise.all(
      fresh.splice(0).map(async (delivery) => ({ delivery, waits: await hasToWait(delivery) })),
    )
    const { true: waiting = [], false: first = [] } = Object.groupBy(given, ({ waits }) => `${waits}`)
    await publish(
      first.map(({ delivery: { deliveryId, channel, tenantId, endpointId } }) => ({
        deliveryId,
        attempt: 1,
        channel,
        tenantId,
        endpointId,
      })),
    )
    return waiting.map(({ delivery }) => delivery.deliveryId)
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
    const waiting = await publishFresh()
    await publishNext([...waiting, ...(await freeSlots())])
    const receivers = inFlight.withFreeSlots()
    const isSweep = performance.now() >= sweepAt
    if (receivers.length === 0 && !isSweep) return
    // Set before the wait, so that a redelivery requested meanwhile triggers another sweep.
    if (isSweep) sweepAt = performance.now() + sweepMs
    // Attempts that were not admitted above must be visible to the query.
    await untilVisible(latest)
    const moment = now().toISOString()
    if (receivers.length > 0) {
      const found = { except: inFlight.of(receivers), maxOfEach }
      const due = await listDueAttemptsOf(db, moment, receivers, found)
      inFlight.noteFound(receivers, due)
      await publish(due)
    }
    if (!isSweep) return
    inFlight.forgetLost()
    // One more than the limit, so that a receiver with more is noticed.
    await publish(await listDueAttempts(db, moment, { channels, maxOfEach: maxOfEach + 1 }))
  }

  return {
    onEntry,
    async run(signal) {
      isRunning = true
      for (let failures = 0; !signal.aborted; ) {
        try {
          await poll()
          failures = 0
        } catch (error) {
          onFailure(error)
          failures++
        }
        await pause(wakeSignal, failures, signal)
      }
      isRunning = false
    },
  }
}

async function pause(wakeSignal: WakeSignal, failures: number, signal: AbortSignal): Promise<void> {
  const pauseMs = sweepMs * 2 ** Math.min(failures, 4)
  // While a store does not respond, wake signals are ignored, since they would only add load.
  await (failures === 0 ? wakeSignal : createWakeSignal()).wait(pauseMs, signal)
}

/** A replayed delivery waits for the next sweep: replays leave live deliveries alone. */
const isNews = (entry: LogEntry): entry is Recorded<'delivery'> =>
  entry.readable && entry.category === 'delivery' && entry.event.type !== 'ReplayAsked'

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

/** The published attempts that are not known to be done, by receiver. */
function createInFlight(lostAfterMs: number) {
  const jobs = new Map<string, { receiver: string; lostAt: number }>()
  const receivers = new Map<
    string,
    Receiver & { deliveryIds: Set<string>; hasMoreDue: boolean; isFailing: boolean }
  >()

  function receiverOf({ channel, tenantId, endpointId }: Receiver) {
    const name = nameOf({ channel, tenantId, endpointId })
    const known = receivers.get(name) ?? {
      channel,
      tenantId,
      endpointId,
      deliveryIds: new Set<string>(),
      hasMoreDue: false,
      isFailing: false,
    }
    receivers.set(name, known)
    return known
  }

  function done(deliveryId: string, failed: boolean | undefined): void {
    const job = jobs.get(deliveryId)
    const receiver = job && receivers.get(job.receiver)
    if (!receiver) return
    jobs.delete(deliveryId)
    receiver.deliveryIds.delete(deliveryId)
    if (failed !== undefined) receiver.isFailing = failed
    if (receiver.deliveryIds.size === 0 && !receiver.hasMoreDue && !receiver.isFailing) {
      receivers.delete(nameOf(receiver))
    }
  }

  return {
    /** Whether it may be published now; if not, its receiver is queried again when it has a free slot. */
    admit(job: DueAttempt): boolean {
      if (jobs.has(job.deliveryId)) return false
      const receiver = receiverOf(job)
      const most = receiver.isFailing ? maxOfFailing : maxOfEach
      if (receiver.deliveryIds.size >= most) {
        receiver.hasMoreDue = true
        return false
      }
      receiver.deliveryIds.add(job.deliveryId)
      jobs.set(job.deliveryId, { receiver: nameOf(job), lostAt: performance.now() + lostAfterMs })
      return true
    },
    done,
    /** Whether its receiver has further due attempts. */
    hasMore: (deliveryId: string): boolean =>
      receivers.get(jobs.get(deliveryId)?.receiver ?? '')?.hasMoreDue ?? false,
    /** Receivers with further due attempts and at least half of their slots free. */
    withFreeSlots: (): Receiver[] =>
      [...receivers.values()].filter(
        ({ hasMoreDue, isFailing, deliveryIds }) =>
          hasMoreDue && deliveryIds.size <= (isFailing ? maxOfFailing : maxOfEach) / 2,
      ),
    of: (some: readonly Receiver[]): string[] =>
      some.flatMap((receiver) => [...(receivers.get(nameOf(receiver))?.deliveryIds ?? [])]),
    /** Receivers without a due attempt in the answer have no further ones. */
    noteFound(asked: readonly Receiver[], due: readonly DueAttempt[]): void {
      const more = new Set(due.map(nameOf))
      for (const receiver of asked) {
        const known = receivers.get(nameOf(receiver))
        if (known && !more.has(nameOf(receiver))) known.hasMoreDue = false
      }
    },
    forgetLost(): void {
      for (const [deliveryId, { lostAt }] of jobs)
        if (lostAt <= performance.now()) done(deliveryId, undefined)
    },
  }
}
