import { sha256 } from '../credentials/sha256.ts'
import type { Provider } from '../domain/integrations/provider.ts'
import { type Link, type LinkCommand, links } from '../domain/links/link.ts'
import { Refusal } from '../domain/refusal.ts'
import type { SaleFact } from '../domain/sales/events.ts'
import { type KnownSale, type Sale, type SaleCommand, sales } from '../domain/sales/sale.ts'
import { linkKey, saleKey, streamName } from '../domain/streams.ts'
import { type Loaded, loadFromLog, noStream } from '../ledger/execute.ts'
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

type LinkPlace = { tenantId: string; provider: Provider; link: string }

/** Keeps a fact under a link whose sale is not known yet. @returns the id of the sale that the link is bound to, or null */
export async function keepFact(
  ports: Ports<'execute' | 'now'>,
  place: LinkPlace,
  fact: SaleFact,
  origin: Origin,
): Promise<string | null> {
  const { saleId } = await changeLink(ports, place, origin, (at) => ({
    type: 'KeepFact',
    ...place,
    fact,
    at,
  }))
  return saleId
}

/** The id of the sale that a link is bound to, or null. */
export async function saleOfLink(ports: Ports<'ledger'>, place: LinkPlace): Promise<string | null> {
  return (await loadFromLog(ports.ledger, linkKeyOf(place), links)).state.saleId
}

/**
 * Binds every link of the sale to it. A link that is already bound to another sale stays so.
 * @param areNew the links have probably no facts yet, which saves a read
 * @returns the facts that were kept under these links before
 */
export async function bindLinks(
  ports: Ports<'execute' | 'now'>,
  sale: KnownSale,
  origin: Origin,
  areNew = false,
): Promise<SaleFact[]> {
  const loaded = areNew ? noStream(links) : undefined
  const { tenantId, provider, saleId } = sale
  const bound = await Promise.all(
    sale.links.map((link) =>
      changeLink(
        ports,
        { tenantId, provider, link },
        origin,
        (at) => ({ type: 'BindLink', tenantId, provider, link, saleId, at }),
        loaded,
      ),
    ),
  )
  return bound.flatMap((link) => (link.saleId === saleId ? link.kept : []))
}

async function changeLink(
  ports: Ports<'execute' | 'now'>,
  place: LinkPlace,
  origin: Origin,
  command: (at: string) => LinkCommand,
  loaded?: Loaded<Link>,
): Promise<Link> {
  const at = momentOf(ports)
  const { state } = await ports.execute(links, linkKeyOf(place), command(at), causeOf(origin, at), {
    loaded,
  })
  return state
}

const linkKeyOf = ({ tenantId, provider, link }: LinkPlace): string =>
  linkKey(tenantId, provider, sha256(link))
