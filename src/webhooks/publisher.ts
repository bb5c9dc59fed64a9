import { type DueAttempt, listDueAttempts, listDueAttemptsOf } from '../../projections/deliveries/due.ts'
import { createWakeSignal, type WakeSignal } from '../async/wake-signal.ts'
import type { Channel } from '../domain/deliveries/events.ts'
import type { LogEntry, Recorded } from '../domain/recorded.ts'
import { deliveryIdIn } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import type { DispatchFeed } from './feed.ts'

/**
 * Of one receiver no more are under way at once: one that hangs holds that many places, and leaves the others theirs.
 * After a failure it is only a few, until one succeeds.
 */
const mostOfEach = 32
const mostOfFailing = 2
/** So often everything that is due is looked for, whoever has made it due. */
const sweepMs = 1000

type Receiver = { channel: Channel; tenantId: string }
const nameOf = ({ channel, tenantId }: Receiver): string => `${channel} ${tenantId}`

export type Publisher = {
  /** Told of everything in the log as it comes, so that fresh deliveries need not wait to be found. */
  onEntry(entry: LogEntry): void
  run(signal: AbortSignal): Promise<void>
}

/**
 * Publishes what is due. The schedule is a read model; what stands in memory here only spares it questions.
 * @param lostAfterMs longer than a try may take: what was published before that and is not done was lost, and is
 *   published again
 */
export function createPublisher(
  { db, now, feed, untilVisible }: Ports<'db' | 'now' | 'untilVisible'> & { feed: DispatchFeed },
  channels: readonly Channel[],
  onFailure: (error: unknown) => void,
  { lostAfterMs = 20_000 } = {},
): Publisher {
  const wakeSignal = createWakeSignal()
  const underWay = createUnderWay(lostAfterMs)
  const fresh: DueAttempt[] = []
  const ended: Ended[] = []
  let sweepAt = 0
  let latest = -1n
  /** Whoever waits to take over hears much that is none of theirs. */
  let isRunning = false

  function onEntry(entry: LogEntry): void {
    if (!isRunning || !entry.readable || entry.category !== 'delivery') return
    latest = entry.position
    if (entry.event.type === 'DeliveryScheduled') {
      const { deliveryId, channel, tenantId } = entry.event.data
      if (channels.includes(channel)) fresh.push({ deliveryId, attempt: 1, channel, tenantId })
    } else if (entry.event.type === 'RedeliveryAsked') {
      sweepAt = 0
    } else {
      const one = endedBy(entry)
      ended.push(one)
      if (!underWay.isWaitedFor(one.deliveryId)) return
    }
    wakeSignal.wake()
  }

  async function publish(jobs: readonly DueAttempt[]): Promise<void> {
    const admitted = jobs.filter((job) => underWay.admit(job))
    if (admitted.length === 0) return
    try {
      await feed.publish(admitted)
    } catch (error) {
      for (const { deliveryId } of admitted) underWay.done(deliveryId, undefined)
      throw error
    }
  }

  /**
   * Only what the read models know to have ended makes room: otherwise they would show it as due once more, and it
   * would hold a place without anybody doing anything for it.
   */
  async function makeRoom(): Promise<void> {
    const known = ended.length
    const last = ended.at(-1)
    if (last) await untilVisible(last.position)
    for (const { deliveryId, failed } of ended.splice(0, known)) underWay.done(deliveryId, failed)
  }

  async function poll(): Promise<void> {
    // Whoever tries them needs no read model for it.
    await publish(fresh.splice(0))
    await makeRoom()
    const receivers = underWay.withRoom()
    const isSweep = performance.now() >= sweepAt
    if (receivers.length === 0 && !isSweep) return
    // Before the wait: whoever asks for a delivery again meanwhile has it looked for once more.
    if (isSweep) sweepAt = performance.now() + sweepMs
    // What was turned away above is to be found.
    await untilVisible(latest)
    const moment = now().toISOString()
    if (receivers.length > 0) {
      const found = { except: underWay.of(receivers), mostOfEach }
      const due = await listDueAttemptsOf(db, moment, receivers, found)
      underWay.foundFor(receivers, due)
      await publish(due)
    }
    if (!isSweep) return
    underWay.forgetLost()
    // One more than there is room for, whose turning away says that there are more.
    await publish(await listDueAttempts(db, moment, { channels, mostOfEach: mostOfEach + 1 }))
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
  // While something does not answer, nobody is listened to who would only have it asked more often.
  await (failures === 0 ? wakeSignal : createWakeSignal()).wait(pauseMs, signal)
}

/** A try of a delivery that came to its end; whether it failed, if it says so. */
type Ended = { deliveryId: string; failed: boolean | undefined; position: bigint }

const endedBy = ({ event, stream, position }: Recorded): Ended => ({
  deliveryId: deliveryIdIn(stream),
  failed: event.type === 'DeliveryAttempted' ? event.data.error !== null : undefined,
  position,
})

/** What has been published and is not known to be done, by receiver. */
function createUnderWay(lostAfterMs: number) {
  const jobs = new Map<string, { receiver: string; lostAt: number }>()
  const receivers = new Map<
    string,
    Receiver & { deliveryIds: Set<string>; turnedAway: boolean; troubled: boolean }
  >()

  function receiverOf({ channel, tenantId }: Receiver) {
    const name = nameOf({ channel, tenantId })
    const known = receivers.get(name) ?? {
      channel,
      tenantId,
      deliveryIds: new Set<string>(),
      turnedAway: false,
      troubled: false,
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
    if (failed !== undefined) receiver.troubled = failed
    if (receiver.deliveryIds.size === 0 && !receiver.turnedAway && !receiver.troubled) {
      receivers.delete(nameOf(receiver))
    }
  }

  return {
    /** Whether it may be published now; if not, its receiver is asked about again when it has room. */
    admit(job: DueAttempt): boolean {
      if (jobs.has(job.deliveryId)) return false
      const receiver = receiverOf(job)
      const most = receiver.troubled ? mostOfFailing : mostOfEach
      if (receiver.deliveryIds.size >= most) {
        receiver.turnedAway = true
        return false
      }
      receiver.deliveryIds.add(job.deliveryId)
      jobs.set(job.deliveryId, { receiver: nameOf(job), lostAt: performance.now() + lostAfterMs })
      return true
    },
    done,
    /** Whether its receiver has more to come when it has ended. */
    isWaitedFor: (deliveryId: string): boolean =>
      receivers.get(jobs.get(deliveryId)?.receiver ?? '')?.turnedAway ?? false,
    /** Receivers that had more than was published, and have become half free. */
    withRoom: (): Receiver[] =>
      [...receivers.values()].filter(
        ({ turnedAway, troubled, deliveryIds }) =>
          turnedAway && deliveryIds.size <= (troubled ? mostOfFailing : mostOfEach) / 2,
      ),
    of: (some: readonly Receiver[]): string[] =>
      some.flatMap((receiver) => [...(receivers.get(nameOf(receiver))?.deliveryIds ?? [])]),
    /** Those of the receivers for which nothing more was found have nothing to come. */
    foundFor(asked: readonly Receiver[], due: readonly DueAttempt[]): void {
      const more = new Set(due.map(nameOf))
      for (const receiver of asked) {
        const known = receivers.get(nameOf(receiver))
        if (known && !more.has(nameOf(receiver))) known.turnedAway = false
      }
    },
    forgetLost(): void {
      for (const [deliveryId, { lostAt }] of jobs)
        if (lostAt <= performance.now()) done(deliveryId, undefined)
    },
  }
}
