import { type SalePlace, saleStreamOf } from '../commands/sales.ts'
import { sha256 } from '../credentials/sha256.ts'
import type { Evolver } from '../domain/decider.ts'
import type { SaleEvent } from '../domain/sales/events.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import { saleKey } from '../domain/streams.ts'
import { loadFromLog } from '../ledger/execute.ts'
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

/** All events of a sale, oldest first. They are read from the log: only people ask for them, so they need no read model. */
export async function readSaleEvents(
  { ledger }: Ports<'ledger'>,
  { tenantId, provider, saleId }: KnownSale,
): Promise<readonly SaleEvent[]> {
  const { state } = await loadFromLog(ledger, saleKey(tenantId, provider, sha256(saleId)), allEvents)
  return state
}

const allEvents: Evolver<readonly SaleEvent[], 'sale'> = {
  category: 'sale',
  initial: [],
  evolve: (events, event) => [...events, event],
}
