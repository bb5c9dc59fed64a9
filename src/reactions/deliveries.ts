import { listOwedDeliveries, type OwedDelivery } from '../../projections/deliveries/due.ts'
import { createBackoff } from '../async/backoff.ts'
import { createWakeSignal } from '../async/wake-signal.ts'
import { scheduleDelivery } from '../commands/deliveries.ts'
import { destroySpentKeys } from '../commands/delivery-keys.ts'
import type { Services } from '../commands/services.ts'
import { waitOnce } from '../commands/wait-once.ts'
import { newId } from '../credentials/id.ts'
import { publicNameOf } from '../domain/delivery/owed.ts'
import type { LogEntry } from '../domain/recorded.ts'
import type { Reaction } from './reaction.ts'

/** Told of a license with a delivery that could not be scheduled; it is tried again later. */
type OnTrouble = (trouble: { license: string; error: unknown }) => void

/** As many as are scheduled at the same time. */
const lanes = 16
const mostAtOnce = 500

/**
 * Puts everything that is owed to a receiver on the schedule. What is owed stands in a read model, in the transaction
 * that brought the event there, so that nothing is forgotten by whoever dies in between.
 */
export function deliveryReaction(
  services: Services,
  onTrouble: OnTrouble,
): Reaction & { hear(entry: LogEntry): void } {
  const wakeSignal = createWakeSignal()
  let heard = -1n
  const backoff = createBackoff(services.now)
  let more = false

  async function round(): Promise<void> {
    if (heard >= 0n) await services.untilVisible(heard)
    const owed = await listOwedDeliveries(services.db, { except: backoff.waiting(), most: mostAtOnce })
    await waitOnce(services, async (steps) => {
      const left = owed.values()
      const lane = async () => {
        for (const one of left) await scheduleOne(steps, one)
      }
      await Promise.all(Array.from({ length: lanes }, lane))
    })
    more = owed.length === mostAtOnce
    backoff.retainOnly(owed.map(({ licenseId }) => licenseId))
  }

  /** @throws what is no license's own fault: the stores do not answer */
  async function scheduleOne(
    steps: Services,
    { eventId, correlationId, ...owed }: OwedDelivery,
  ): Promise<void> {
    const { licenseId } = owed
    const cause = { causationId: eventId, correlationId }
    try {
      await scheduleDelivery(steps, owed, {
        requestId: newId('req'),
        actor: 'system:reactions',
        ...cause,
      })
      backoff.succeeded(licenseId)
    } catch (error) {
      await services.ledger.head()
      onTrouble({ license: licenseId, error })
      backoff.failed(licenseId)
    }
  }

  return {
    name: 'deliveries.schedule',
    everyMs: 500,
    round,
    dueInMs: () => (more ? 0 : 500),
    wakeSignal,
    hear(entry) {
      if (!entry.readable || entry.category !== 'license' || publicNameOf(entry.event) === undefined) return
      heard = entry.position
      wakeSignal.wake()
    },
  }
}

/** Destroys the keys of sales that are needed no longer, and that no dispatcher was left to destroy. */
export const keyReaction = (services: Services): Reaction => ({
  name: 'deliveries.clear',
  everyMs: 60_000,
  round: () => destroySpentKeys(services),
})
