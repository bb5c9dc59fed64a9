import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listDeliveries } from '../../../projections/deliveries/queries.ts'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { findSale, listSales } from '../../../projections/sales/queries.ts'
import { readSaleStory } from '../../commands/sale-story.ts'
import { replaySale } from '../../commands/sales.ts'
import type { Services } from '../../commands/services.ts'
import { isId } from '../../credentials/id.ts'
import { Provider } from '../../domain/integration/provider.ts'
import { may } from '../../domain/member/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { KnownSale } from '../../domain/sale/sale.ts'
import { Slug } from '../../domain/values.ts'
import { notFound, problemOfRefusal } from '../problem.ts'
import { productChoices, queryOf } from './lists.ts'
import type { Rooms } from './rooms.ts'
import type { Notice } from './session.ts'
import { lookingAt, originOfMember, signedOf } from './signed.ts'
import { salesView, saleView } from './views/sales.ts'

const hidden = { schema: { hide: true } } as const

const pageSize = 50
/** More deliveries than a license has before anybody looks into its sale. */
const mostDeliveries = 100

type OneRequest = FastifyRequest<{ Params: { id: string } }>

const Status = z.enum(['parked', 'received', 'licensed'])

/** What was sold, and everything that came of it; what is parked can be tried again. */
export function salePages(app: FastifyInstance, rooms: Rooms): void {
  listPage(app, rooms)
  onePage(app, rooms)
  replayForm(app, rooms)
}

/** @throws Problem 404 */
async function saleOf(services: Services, request: OneRequest): Promise<KnownSale> {
  const { id } = request.params
  const sale = isId('sal', id) ? await findSale(services.db, signedOf(request).tenantId, id) : undefined
  if (!sale) throw notFound('sale')
  return sale
}

function listPage(app: FastifyInstance, { services, cursors, show }: Rooms): void {
  app.get('/sales', lookingAt('sales'), async (request, reply) => {
    const { tenantId } = signedOf(request)
    const { cursor, status: askedStatus, provider: askedProvider, product } = queryOf(request)
    const status = Status.safeParse(askedStatus).data
    const provider = Provider.safeParse(askedProvider).data
    const productId = Slug.safeParse(product).data
    const boundTo = [tenantId, 'dashboard sales', status ?? null, provider ?? null, productId ?? null]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const [{ items, next }, products] = await Promise.all([
      listSales(services.db, tenantId, { status, provider, productId }, keyset),
      productChoices(services, tenantId),
    ])
    const people = await services.subjects.openPeople(
      tenantId,
      items.map(({ customer }) => customer),
    )
    const sales = items.map((sale, index) => ({ sale, email: people[index]?.email ?? null }))
    return show(reply, {
      title: 'Sales',
      nav: 'sales',
      content: (view) =>
        salesView(view, {
          sales,
          products,
          filter: { status, provider, product: productId },
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}

function onePage(app: FastifyInstance, { services, show }: Rooms): void {
  app.get('/sales/:id', lookingAt('sale'), async (request: OneRequest, reply) => {
    const { tenantId, role } = signedOf(request)
    const sale = await saleOf(services, request)
    const { licenseId } = sale
    const [[person], entry, story, deliveries] = await Promise.all([
      services.subjects.openPeople(tenantId, [sale.customer]),
      findLicense(services.db, tenantId, licenseId),
      readSaleStory(services, sale),
      listDeliveries(services.db, tenantId, { licenseId }, { after: undefined, limit: mostDeliveries }),
    ])
    return show(reply, {
      title: person?.email ?? sale.saleId,
      nav: 'sales',
      content: (view) =>
        saleView(view, {
          sale,
          email: person?.email ?? null,
          displayKey: entry?.license.displayKey,
          story,
          deliveries: deliveries.items,
          mayReplay: may(role, 'manage_settings'),
        }),
    })
  })
}

function replayForm(app: FastifyInstance, { services }: Rooms): void {
  const manage = { config: { page: 'manage_settings' }, ...hidden } as const
  app.post('/sales/:id/replay', manage, async (request: OneRequest, reply) => {
    const { id } = await saleOf(services, request)
    request.session.notice = await outcomeOf(services, request, id)
    return reply.redirect(`/dashboard/sales/${id}`, 303)
  })
}

async function outcomeOf(services: Services, request: FastifyRequest, id: string): Promise<Notice> {
  try {
    await replaySale(services, signedOf(request).tenantId, id, originOfMember(request))
    return { kind: 'done', text: 'The sale has its license now.' }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { kind: 'wrong', text: `${problemOfRefusal(error.code).message}.` }
  }
}
