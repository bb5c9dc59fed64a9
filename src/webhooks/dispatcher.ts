import type { DueAttempt } from '../../projections/deliveries/due.ts'
import { createDeliveryLookup, type DeliveryEntry } from '../../projections/deliveries/queries.ts'
import { loadDelivery, recordAttempt } from '../commands/deliveries/deliveries.ts'
import { destroyMailedKey, destroySpentKey } from '../commands/deliveries/spent-keys.ts'
import { newId } from '../credentials/id.ts'
import type { Channel } from '../domain/deliveries/events.ts'
import type { LogEntry } from '../domain/recorded.ts'
import type { Ports } from '../ports.ts'
import type { DeliveryChannel } from './channel.ts'
import type { Handler } from './feed.ts'
import { createRecentDeliveries } from './recent-deliveries.ts'

export type Channels = Partial<Record<Channel, DeliveryChannel>>

/** Called when an attempt could not be made or recorded; the delivery stays due. */
type OnTrouble = (trouble: { delivery: string; error: unknown }) => void

/** How many attempts one process makes concurrently. */
export const attemptsAtOnce = 512

/** The publisher's clock may be ahead by this much. */
const clocksDifferMs = 5000

export type Attempts = {
  make: Handler
  /** Called for each log entry, before the publisher sees it. */
  onEntry(entry: LogEntry): void
}

/**
 * Makes attempts and records them. An attempt that was made but could not be recorded is repeated under the
 * same id, so delivery is at least once.
 */
export function createAttempts(
  services: Ports<'db' | 'execute' | 'ledger' | 'now' | 'secrets'>,
  channels: Channels,
  onTrouble: OnTrouble,
): Attempts {
  const recent = createRecentDeliveries()
  const shown = createDeliveryLookup(services.db)
  const running = new Set<string>()

  async function find(deliveryId: string): Promise<DeliveryEntry | undefined> {
    const found = recent.find(deliveryId) ?? (await shown(deliveryId))
    if (found) return found
    // The job arrived before the log and the read models showed the delivery.
    const { state, revision } = await loadDelivery(services, deliveryId)
    return state.status === 'absent' || revision === 'no_stream' ? undefined : { delivery: state, revision }
  }

  async function attempt(job: DueAttempt): Promise<void> {
    const entry = await find(job.deliveryId)
    const delivery = entry?.delivery
    // Another process has made and recorded this attempt, or it is no longer due.
    if (!delivery || delivery.attempts.length + 1 !== job.attempt) return
    const now = services.now()
    const { nextAttemptAt } = delivery
    if (nextAttemptAt === null || Date.parse(nextAttemptAt) > now.getTime() + clocksDifferMs) return
    const channel = channels[delivery.channel]
    if (!channel) throw new Error(`no channel delivers by ${delivery.channel}`)
    const started = performance.now()
    const result = await channel.deliver(delivery)
    if (result.outcome === 'held') return
    const durationMs = Math.round(performance.now() - started)
    const origin = {
      requestId: newId('req'),
      actor: 'system:dispatcher',
      causationId: delivery.deliveryId,
      correlationId: delivery.deliveryId,
    }
    await recordAttempt(services, entry, { startedAt: now.toISOString(), durationMs, result }, origin)
    if (delivery.event === 'license.created') {
      await destroySpentKey(services, delivery.tenantId, delivery.licenseId)
    }
    if (delivery.event === 'license.key_mail') {
      await destroyMailedKey(services, delivery.tenantId, delivery.licenseId)
    }
  }

  async function make(job: DueAttempt): Promise<void> {
    if (running.has(job.deliveryId)) return
    running.add(job.deliveryId)
    try {
      await attempt(job)
    } catch (error) {
      onTrouble({ delivery: job.deliveryId, error })
      throw error
    } finally {
      running.delete(job.deliveryId)
    }
  }

  return { make, onEntry: recent.onEntry }
}
