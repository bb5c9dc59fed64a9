import { causeOf, momentOf, type Origin } from '../commands/origin.ts'
import { sha256 } from '../credentials/sha256.ts'
import type { Provider } from '../domain/integrations/provider.ts'
import { type Notice, type NoticeCommand, notices } from '../domain/links/notice.ts'
import type { SaleFact } from '../domain/sales/events.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import { noticeKey } from '../domain/streams.ts'
import { type Loaded, loadFromLog, noStream } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'

type LinkPlace = { tenantId: string; provider: Provider; link: string }

/** Keeps what was told of a link's sale, unless the sale is known. @returns the sale's id if it is */
export async function keepNotice(
  services: Ports<'execute' | 'now'>,
  place: LinkPlace,
  fact: SaleFact,
  origin: Origin,
): Promise<string | null> {
  const { saleId } = await changeNotice(services, place, origin, (at) => ({
    type: 'KeepNotice',
    ...place,
    fact,
    at,
  }))
  return saleId
}

/** The sale that a link names, if any is known. */
export async function saleOfLink(services: Ports<'ledger'>, place: LinkPlace): Promise<string | null> {
  return (await loadFromLog(services.ledger, noticeKeyOf(place), notices)).state.saleId
}

/**
 * Lets every link of the sale lead to it from now on. A link that leads to another sale already stays so.
 * @param areNew nobody is likely to have told anything of them yet, which spares looking
 * @returns what was told by these links before
 */
export async function bindLinks(
  services: Ports<'execute' | 'now'>,
  sale: KnownSale,
  origin: Origin,
  areNew = false,
): Promise<SaleFact[]> {
  const found = areNew ? noStream(notices) : undefined
  const { tenantId, provider, saleId } = sale
  const bound = await Promise.all(
    sale.links.map((link) =>
      changeNotice(
        services,
        { tenantId, provider, link },
        origin,
        (at) => ({ type: 'BindLink', tenantId, provider, link, saleId, at }),
        found,
      ),
    ),
  )
  return bound.flatMap((notice) => (notice.saleId === saleId ? notice.kept : []))
}

async function changeNotice(
  services: Ports<'execute' | 'now'>,
  place: LinkPlace,
  origin: Origin,
  command: (at: string) => NoticeCommand,
  found?: Loaded<Notice>,
): Promise<Notice> {
  const at = momentOf(services)
  const { state } = await services.execute(notices, noticeKeyOf(place), command(at), causeOf(origin, at), {
    found,
  })
  return state
}

const noticeKeyOf = ({ tenantId, provider, link }: LinkPlace): string =>
  noticeKey(tenantId, provider, sha256(link))
