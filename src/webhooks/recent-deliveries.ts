import type { DeliveryEntry } from '../../projections/deliveries/queries.ts'
import { absentDelivery, evolveDelivery } from '../domain/deliveries/delivery.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { deliveryIdIn } from '../domain/streams.ts'

/** More than one process tries at once; what is dropped is looked up. */
const mostKept = 5000

export type RecentDeliveries = {
  onEntry(entry: LogEntry): void
  find(deliveryId: string): DeliveryEntry | undefined
}

/**
 * Deliveries that were put on the schedule a moment ago and have not been tried, as the log tells of them: their first
 * try need not wait until the read models show them.
 */
export function createRecentDeliveries(): RecentDeliveries {
  const kept = new Map<string, DeliveryEntry>()

  function keep(deliveryId: string, entry: DeliveryEntry): void {
    kept.set(deliveryId, entry)
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size > mostKept) kept.delete(oldest)
  }

  return {
    onEntry(entry) {
      if (!entry.readable || entry.category !== 'delivery') return
      const { event, stream, revision } = entry
      const delivery = evolveDelivery(absentDelivery, event)
      if (delivery.status === 'absent') kept.delete(deliveryIdIn(stream))
      else keep(delivery.deliveryId, { delivery, revision })
    },
    find: (deliveryId) => kept.get(deliveryId),
  }
}
