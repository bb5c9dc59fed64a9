import type { DeliveryEntry } from '../../projections/deliveries/queries.ts'
import { absentDelivery, evolveDelivery } from '../domain/deliveries/delivery.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { deliveryIdIn } from '../domain/streams.ts'

/** More than one process attempts concurrently; a dropped delivery is read from the log. */
const maxKept = 5000

export type RecentDeliveries = {
  onEntry(entry: LogEntry): void
  find(deliveryId: string): DeliveryEntry | undefined
}

/**
 * Deliveries that were just scheduled and not attempted yet, from the log: their first attempt need not wait
 * for the read models.
 */
export function createRecentDeliveries(): RecentDeliveries {
  const kept = new Map<string, DeliveryEntry>()

  function keep(deliveryId: string, entry: DeliveryEntry): void {
    kept.set(deliveryId, entry)
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size > maxKept) kept.delete(oldest)
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
