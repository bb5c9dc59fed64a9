import { sha256 } from '../credentials/sha256.ts'
import type { Provider } from '../domain/integrations/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import { type KnownSale, type Sale, type SaleCommand, sales } from '../domain/sales/sale.ts'
import { saleKey, streamName } from '../domain/streams.ts'
import { type Loaded, loadFromLog } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** Identifies a sale: its provider, and the provider's id of it. */
export type SalePlace = { tenantId: string; provider: Provider; saleId: string }

const saleKeyOf = ({ tenantId, provider, saleId }: SalePlace): string =>
  saleKey(tenantId, provider, sha256(saleId))

export const saleStreamOf = (place: SalePlace): string => streamName('sale', saleKeyOf(place))

export function loadSale(ports: Ports<'ledger'>, place: SalePlace): Promise<Loaded<Sale>> {
  return loadFromLog(ports.ledger, saleKeyOf(place), sales)
}

/**
 * Executes a command on a sale.
 * @param loaded the state of the sale, if it has been read
 * @returns the sale afterwards, its revision, and whether the command changed it
 * @throws Refusal as `decideSale` does
 */
export async function changeSale(
  ports: Ports<'execute' | 'now'>,
  place: SalePlace,
  origin: Origin,
  command: (at: string) => SaleCommand,
  loaded?: Loaded<Sale>,
): Promise<{ sale: Loaded<KnownSale>; changed: boolean }> {
  const at = momentOf(ports)
  const cause = causeOf(origin, at)
  const {
    state: sale,
    events,
    revision,
  } = await ports.execute(sales, saleKeyOf(place), command(at), cause, { loaded })
  if (sale.status === 'absent') throw new Refusal('sale_not_found')
  return { sale: { state: sale, revision }, changed: events.length > 0 }
}
