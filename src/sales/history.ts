import { type SalePlace, saleStreamOf } from '../commands/sales.ts'
import type { SaleEvent } from '../domain/sales/events.ts'
import type { Ports } from '../ports.ts'

/** One event of a sale, for the API and the command line. */
export type SaleHistoryEntry = {
  type: SaleEvent['type']
  at: string
  /** Who caused it, such as `provider:stripe`. */
  actor: string
  requestId: string
  /** For an event by a notification: the provider's id of it, and its time there. */
  notificationId: string | null
  occurredAt: string | null
}

/** All events of a sale, oldest first. */
export async function readSaleHistory(ports: Ports<'ledger'>, place: SalePlace): Promise<SaleHistoryEntry[]> {
  const steps: SaleHistoryEntry[] = []
  for await (const entry of ports.ledger.readStream(saleStreamOf(place))) {
    if (!entry.readable || entry.category !== 'sale') continue
    const { event, metadata } = entry
    steps.push({
      type: event.type,
      at: event.data.at,
      actor: metadata.actor,
      requestId: metadata.requestId,
      notificationId: 'notificationId' in event.data ? event.data.notificationId : null,
      occurredAt: 'occurredAt' in event.data ? event.data.occurredAt : null,
    })
  }
  return steps
}
