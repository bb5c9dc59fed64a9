import type { DueAttempt } from '../../projections/deliveries/due.ts'
import { createDeliveryLookup } from '../../projections/deliveries/queries.ts'
import { recordAttempt } from '../commands/deliveries.ts'
import { destroySpentKey } from '../commands/delivery-keys.ts'
import type { Services } from '../commands/services.ts'
import { newId } from '../credentials/id.ts'
import type { Channel } from '../domain/delivery/events.ts'
import type { DeliveryChannel } from './channel.ts'
import type { Handler } from './feed.ts'

export type Channels = Partial<Record<Channel, DeliveryChannel>>

/** Told of a try that could not be made or recorded; the delivery stays due. */
type OnTrouble = (trouble: { delivery: string; error: unknown }) => void

/** As many tries as one process makes at once. */
export const triesAtOnce = 512

/** Whoever published it may be ahead by that much. */
const clocksDifferMs = 5000

/**
 * Makes tries and records them. A try that was made and could not be recorded is made again, under the same id: what
 * is owed is delivered at least once.
 */
export function createAttempts(services: Services, channels: Channels, onTrouble: OnTrouble): Handler {
  const find = createDeliveryLookup(services.db)
  const running = new Set<string>()

  async function attempt(job: DueAttempt): Promise<void> {
    const entry = await find(job.deliveryId)
    const delivery = entry?.delivery
    // Somebody else has made and recorded this one, or it has been put off.
    if (!delivery || delivery.attempts.length + 1 !== job.attempt) return
    const now = services.now()
    const { nextAttemptAt } = delivery
    if (nextAttemptAt === null || Date.parse(nextAttemptAt) > now.getTime() + clocksDifferMs) return
    const channel = channels[delivery.channel]
    if (!channel) throw new Error(`nobody delivers by ${delivery.channel} here`)
    const started = performance.now()
    const result = await channel.deliver(delivery)
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
  }

  return async (job) => {
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
}
