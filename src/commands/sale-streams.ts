import { sha256 } from '../credentials/sha256.ts'
import type { Provider } from '../domain/integration/provider.ts'
import { decideNotice, evolveNotice, type Notice, unknownLink } from '../domain/notice/notice.ts'
import { folding } from '../domain/recorded.ts'
import { Refusal } from '../domain/refusal.ts'
import type { SaleFact } from '../domain/sale/events.ts'
import {
  absentSale,
  decideSale,
  evolveSale,
  type KnownSale,
  type Sale,
  type SaleCommand,
} from '../domain/sale/sale.ts'
import type { Loaded } from '../ledger/handle.ts'
import { loadFromLog } from '../ledger/load.ts'
import { noticeStream, saleStream } from '../ledger/streams.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

/** What names a sale: the provider that told of it, and the provider's own id of it. */
export type SalePlace = { tenantId: string; provider: Provider; saleId: string }

export const saleStreamOf = ({ tenantId, provider, saleId }: SalePlace): string =>
  saleStream(tenantId, provider, sha256(saleId))

export function loadSale(services: Services, place: SalePlace): Promise<Loaded<Sale>> {
  return loadFromLog(services.ledger, saleStreamOf(place), absentSale, folding('sale', evolveSale))
}

/**
 * @param loaded what is known of the sale already
 * @returns the sale as it is now, at which revision, and whether the command changed it
 * @throws Refusal as `decideSale`
 */
export async function changeSale(
  services: Services,
  place: SalePlace,
  origin: Origin,
  command: (at: string) => SaleCommand,
  loaded?: Loaded<Sale>,
): Promise<{ sale: Loaded<KnownSale>; changed: boolean }> {
  const at = momentOf(services)
  const { state, events, revision } = await services.handle<Sale, 'sale'>({
    stream: saleStreamOf(place),
    load: () => loadSale(services, place),
    loaded,
    decide: (sale) => decideSale(sale, command(at)),
    cause: causeOf(origin, at),
  })
  const sale = events.reduce(evolveSale, state)
  if (sale.status === 'absent') throw new Refusal('sale_not_found')
  return { sale: { state: sale, revision }, changed: events.length > 0 }
}

type LinkPlace = { tenantId: string; provider: Provider; link: string }

/** Keeps what was told of a link's sale, unless the sale is known. @returns the sale's id if it is */
export async function keepNotice(
  services: Services,
  place: LinkPlace,
  fact: SaleFact,
  origin: Origin,
): Promise<string | null> {
  const { saleId } = await changeNotice(services, place, origin, (notice, at) =>
    decideNotice(notice, { type: 'KeepNotice', ...place, fact, at }),
  )
  return saleId
}

/** The sale that a link names, if any is known. */
export async function saleOfLink(services: Services, place: LinkPlace): Promise<string | null> {
  return (await loadNotice(services, place)).state.saleId
}

/**
 * Lets every link of the sale lead to it from now on. A link that leads to another sale already stays so.
 * @param areNew nobody is likely to have told anything of them yet, which spares looking
 * @returns what was told by these links before
 */
export async function bindLinks(
  services: Services,
  sale: KnownSale,
  origin: Origin,
  areNew = false,
): Promise<SaleFact[]> {
  const loaded = areNew ? ({ state: unknownLink, revision: 'no_stream' } as const) : undefined
  const { tenantId, provider, saleId } = sale
  const notices = await Promise.all(
    sale.links.map((link) =>
      changeNotice(
        services,
        { tenantId, provider, link },
        origin,
        (notice, at) => decideNotice(notice, { type: 'BindLink', tenantId, provider, link, saleId, at }),
        loaded,
      ),
    ),
  )
  return notices.flatMap((notice) => (notice.saleId === saleId ? notice.kept : []))
}

async function changeNotice(
  services: Services,
  place: LinkPlace,
  origin: Origin,
  decide: (notice: Notice, at: string) => ReturnType<typeof decideNotice>,
  loaded?: Loaded<Notice>,
): Promise<Notice> {
  const at = momentOf(services)
  const { state, events } = await services.handle<Notice, 'notice'>({
    stream: noticeStream(place.tenantId, place.provider, sha256(place.link)),
    load: () => loadNotice(services, place),
    loaded,
    decide: (notice) => decide(notice, at),
    cause: causeOf(origin, at),
  })
  return events.reduce(evolveNotice, state)
}

function loadNotice(services: Services, { tenantId, provider, link }: LinkPlace): Promise<Loaded<Notice>> {
  const stream = noticeStream(tenantId, provider, sha256(link))
  return loadFromLog(services.ledger, stream, unknownLink, folding('notice', evolveNotice))
}
