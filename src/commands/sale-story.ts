import { sha256 } from '../credentials/sha256.ts'
import { folding } from '../domain/recorded.ts'
import type { SaleEvent } from '../domain/sale/events.ts'
import type { KnownSale } from '../domain/sale/sale.ts'
import { loadFromLog } from '../ledger/load.ts'
import { saleStream } from '../ledger/streams.ts'
import type { Services } from './services.ts'

/** Everything that ever happened to a sale, oldest first: read from the log, since nobody but people asks for it. */
export async function readSaleStory(
  { ledger }: Pick<Services, 'ledger'>,
  { tenantId, provider, saleId }: KnownSale,
): Promise<readonly SaleEvent[]> {
  const none: SaleEvent[] = []
  const append = folding('sale', (events: SaleEvent[], event: SaleEvent) => [...events, event])
  const { state } = await loadFromLog(ledger, saleStream(tenantId, provider, sha256(saleId)), none, append)
  return state
}
