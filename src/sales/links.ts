import { causeOf, momentOf, type Origin } from '../commands/origin.ts'
import { sha256 } from '../credentials/sha256.ts'
import type { Provider } from '../domain/integrations/provider.ts'
import { type Link, type LinkCommand, links } from '../domain/links/link.ts'
import type { SaleFact } from '../domain/sales/events.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import { linkKey } from '../domain/streams.ts'
import { type Loaded, loadFromLog, noStream } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'

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
