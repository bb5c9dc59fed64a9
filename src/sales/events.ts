import { sha256 } from '../credentials/sha256.ts'
import type { Evolver } from '../domain/decider.ts'
import type { SaleEvent } from '../domain/sales/events.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import { saleKey } from '../domain/streams.ts'
import { loadFromLog } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'

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
