import { AttemptAlreadyStarted, createStartedAttempts } from '../../projections/deliveries/begun.ts'
import type { DueAttempt } from '../../projections/deliveries/due.ts'
import { createDeliveryLookup, type DeliveryEntry } from '../../projections/deliveries/queries.ts'
import {
  destroyMailedKey,
  destroySpentKey,
  loadDelivery,
  recordAttempt,
  recordInterruption,
} from '../commands/deliveries.ts'
import type { Origin } from '../commands/origin.ts'
import { newId } from '../credentials/id.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { Channel } from '../domain/deliveries/events.ts'
import type { LogEntry } from '../domain/recorded.ts'
import type { Ports } from '../ports.ts'
import type { DeliveryChannel } from './channel.ts'
import { type Handler, jobName } from './feed.ts'
import { createRecentDeliveries } from './recent-deliveries.ts'

export type Channels = Partial<Record<Channel, DeliveryChannel>>

/** Called when an attempt could not be made or recorded; the delivery stays due. */
type OnFailure = (failure: { delivery: string; error: unknown }) => void

/** How many attempts one process makes concurrently. */
export const attemptsAtOnce = 512

/** The publisher's clock may be ahead by this much. */
const clocksDifferMs = 5000

/** Longer than an attempt of any channel takes, and the recording of its result. */
const overDefaultMs = 20_000

export type Attempts = {
  make: Handler
  /** Called for each log entry, before the publisher sees it. */
  onEntry(entry: LogEntry): void
}

/**
 * Makes attempts and records them: that an attempt begins before it is made, and its result afterwards. An attempt that
 * has begun and whose result was not recorded is recorded as interrupted, and the delivery is repeated under the same id,
 * so it is made at least once and every attempt is in its log.
 * @param overAfterMs when an attempt of another process that has no result is over
 */
export function createAttempts(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now' | 'secrets'>,
  channels: Channels,
  onFailure: OnFailure,
  { overAfterMs = overDefaultMs } = {},
): Attempts {
  const recent = createRecentDeliveries()
  const begunAttempts = createStartedAttempts(ports.db, overAfterMs)
  const shown = createDeliveryLookup(ports.db)
  const running = new Set<string>()

  async function find(deliveryId: string): Promise<DeliveryEntry | undefined> {
    const found = recent.find(deliveryId) ?? (await shown(deliveryId))
    if (found) return found
    // The job arrived before the log and the read models showed the delivery.
    const { state, revision } = await loadDelivery(ports, deliveryId)
    return state.status === 'absent' || revision === 'no_stream' ? undefined : { delivery: state, revision }
  }

  async function attempt(job: DueAttempt): Promise<void> {
    const entry = await find(job.deliveryId)
    const delivery = entry?.delivery
    // Another process has made and recorded this attempt, or it is no longer due.
    if (!delivery || delivery.attempts.length + 1 !== job.attempt) return
    const now = ports.now()
    const { nextAttemptAt } = delivery
    if (nextAttemptAt === null || Date.parse(nextAttemptAt) > now.getTime() + clocksDifferMs) return
    const channel = channels[delivery.channel]
    if (!channel) throw new Error(`no channel delivers by ${delivery.channel}`)
    const startedAt = now.toISOString()
    const started = performance.now()
    const own = { deliveryId: delivery.deliveryId, attempt: job.attempt, startedAt }
    try {
      const result = await channel.deliver(delivery, () => begunAttempts.begin(own))
      if (result.outcome === 'held') return
      const durationMs = Math.round(performance.now() - started)
      // Nothing was sent now, but an earlier run may have sent something.
      if (result.outcome === 'unwanted') await begunAttempts.refuseBegun(own)
      await recordAttempt(ports, entry, { startedAt, durationMs, result }, originOf(delivery))
    } catch (error) {
      if (!(error instanceof AttemptAlreadyStarted && error.isOver)) throw error
      await recordInterruption(ports, entry, error.startedAt, originOf(delivery))
      return
    }
    if (delivery.event === 'license.created') {
      await destroySpentKey(ports, delivery.tenantId, delivery.licenseId)
    }
    if (delivery.event === 'license.key_mail') {
      await destroyMailedKey(ports, delivery.tenantId, delivery.licenseId)
    }
  }

  async function make(job: DueAttempt): Promise<void> {
    const name = jobName(job)
    if (running.has(name)) return
    running.add(name)
    try {
      await attempt(job)
    } catch (error) {
      // Another process is making it. When it does not record the result, this one will be asked again.
      if (!(error instanceof AttemptAlreadyStarted)) onFailure({ delivery: job.deliveryId, error })
      throw error
    } finally {
      running.delete(name)
    }
  }

  return { make, onEntry: recent.onEntry }
}

const originOf = ({ deliveryId }: KnownDelivery): Origin => ({
  requestId: newId('req'),
  actor: 'system:dispatcher',
  causationId: deliveryId,
  correlationId: deliveryId,
})
