import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findCustomer } from '../../../projections/customers.ts'
import { listDeliveries } from '../../../projections/deliveries/queries.ts'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { findSale, listSales } from '../../../projections/sales/queries.ts'
import { listUnmatched } from '../../../projections/sales/unmatched.ts'
import { isId } from '../../credentials/id.ts'
import { Provider } from '../../domain/integrations/provider.ts'
import { may } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { itemsOf } from '../../domain/sales/items.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { Slug } from '../../domain/values.ts'
import { notFound, problemOfRefusal } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { readBuyer, readBuyers } from '../../sales/buyers.ts'
import { readSaleEvents } from '../../sales/history.ts'
import {
  isMappable,
  type MappingOutcome,
  mapParkedSale,
  type ReplayPorts,
  replaySale,
  similarSales,
} from '../../sales/parked.ts'
import { listIgnoredTests } from '../../usage/ignored-tests.ts'
import { formOf } from '../forms/forms.ts'
import { sentenceOf } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import type { FlashMessage } from '../session/session.ts'
import type { SaleMapping } from './map-sale-view.ts'
import { salesView, saleView } from './view.ts'

const pageSize = 50
/** How many ignored tests are shown below the sales. */
const maxIgnored = 20
/** How many refunds and disputes without a sale are. */
const maxUnmatched = 50
/** The maximum number of deliveries on a sale's page. */
const maxDeliveries = 100

type OneRequest = FastifyRequest<{ Params: { id: string } }>

const Status = z.enum(['parked', 'received', 'licensed'])
const Needs = z.enum(['holder'])
const Query = z.object({ cursor: one, status: one, provider: one, product: one, needs: one, customer: one })

/** Sales with everything that followed from them. A parked sale can be replayed. */
export function salePages(app: FastifyInstance, context: PageContext): void {
  listPage(app, context)
  onePage(app, context)
  replayForm(app, context)
  mapForm(app, context)
}

/** @throws Problem 404 */
async function saleOf(ports: Ports<'db'>, request: OneRequest): Promise<KnownSale> {
  const { id } = request.params
  const sale = isId('sal', id) ? await findSale(ports.db, principalOf(request).tenantId, id) : undefined
  if (!sale) throw notFound('sale')
  return sale
}

function listPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/sales', auditedPage('licenses:read', 'sales', Query), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const query = Query.parse(request.query)
    const { cursor, status: requestedStatus, provider: requestedProvider, product, needs: requested } = query
    const customer =
      query.customer === undefined ? undefined : await customerOf(ports, tenantId, query.customer)
    const needs = Needs.safeParse(requested).data
    const status = Status.safeParse(requestedStatus).data
    const provider = Provider.safeParse(requestedProvider).data
    const productId = Slug.safeParse(product).data
    const chosen = { status, provider, productId, needs, customerId: customer?.customerId }
    const filter = { status, provider, productId, needs, customer }
    const boundTo = [tenantId, 'dashboard sales', ...Object.values(chosen).map((value) => value ?? null)]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const isFirst = cursor === undefined && Object.values(chosen).every((value) => value === undefined)
    const [{ items, next }, products, ignored, unmatched] = await Promise.all([
      listSales(ports.db, tenantId, filter, keyset),
      productChoices(ports, tenantId),
      isFirst ? listIgnoredTests(ports.db, tenantId, { after: undefined, limit: maxIgnored }) : undefined,
      isFirst ? listUnmatched(ports.db, tenantId, { after: undefined, limit: maxUnmatched }) : undefined,
    ])
    const sales = await readBuyers(ports, tenantId, items)
    return show(reply, {
      title: 'Sales',
      nav: 'sales',
      content: (view) =>
        salesView(view, {
          sales,
          products,
          filter: { status, provider, product: productId, needs, customer: customer?.customerId },
          cursor,
          next: cursors.write(boundTo, next),
          ignored: ignored?.items ?? [],
          unmatched: unmatched?.items ?? [],
        }),
    })
  })
}

/** @throws Problem 404 */
async function customerOf(ports: Ports<'db'>, tenantId: string, customerId: string) {
  const found = isId('cus', customerId) ? await findCustomer(ports.db, tenantId, customerId) : undefined
  if (!found) throw notFound('customer')
  return { customerId, subjectId: found.customer.subjectId }
}

function onePage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/sales/:id', auditedPage('licenses:read', 'sale'), async (request: OneRequest, reply) => {
    const { tenantId, role } = principalOf(request)
    const sale = await saleOf(ports, request)
    const licenseIds = itemsOf(sale).map(({ licenseId }) => licenseId)
    const page = { after: undefined, limit: maxDeliveries }
    const canMap = isMappable(sale) && may(role, 'manage_connections')
    const [buyer, entries, history, deliveries, mapping] = await Promise.all([
      readBuyer(ports, sale),
      Promise.all(licenseIds.map((licenseId) => findLicense(ports.db, tenantId, licenseId))),
      readSaleEvents(ports, sale),
      Promise.all(licenseIds.map((licenseId) => listDeliveries(ports.db, tenantId, { licenseId }, page))),
      canMap ? saleMappingOf(ports, sale) : undefined,
    ])
    return show(reply, {
      title: buyer.email ?? sale.saleId,
      nav: 'sales',
      content: (view) =>
        saleView(view, {
          sale,
          buyer,
          displayKeys: new Map(
            entries.flatMap((entry) => (entry ? [[entry.license.licenseId, entry.license.displayKey]] : [])),
          ),
          history,
          deliveries: deliveries.flatMap(({ items }) => items),
          mayReplay: may(role, 'replay_sales'),
          mapping,
        }),
    })
  })
}

async function saleMappingOf(ports: Ports<'db'>, sale: KnownSale): Promise<SaleMapping> {
  const [products, { count }] = await Promise.all([
    productChoices(ports, sale.tenantId),
    similarSales(ports, sale),
  ])
  return { products, count }
}

const MendForm = z.object({ sold: z.string().max(200) })

function mapForm(app: FastifyInstance, { ports }: PageContext): void {
  const manage = pageRoute({ page: 'manage_connections' })
  app.post('/sales/:id/map', manage, async (request: OneRequest, reply) => {
    const { id } = await saleOf(ports, request)
    return redirectWith(reply, `/dashboard/sales/${id}`, await mapAndTell(ports, request, id))
  })
}

async function mapAndTell(ports: ReplayPorts, request: FastifyRequest, id: string): Promise<FlashMessage> {
  const [productId, keyTypeId] = formOf(MendForm, request).sold.split('/')
  const { tenantId } = principalOf(request)
  const slug = Slug.safeParse(productId).data
  const product = slug && (await ports.findProduct(tenantId, slug))
  if (!product || keyTypeId === undefined) return { kind: 'wrong', text: 'Choose what was sold.' }
  try {
    const done = await mapParkedSale(ports, id, product, keyTypeId, originOfMember(request))
    return { kind: done.licensed > 0 ? 'done' : 'wrong', text: outcomeWords(done) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { kind: 'wrong', text: sentenceOf(error.code) }
  }
}

function outcomeWords({ licensed, stillParked }: MappingOutcome): string {
  const now = licensed === 1 ? '1 sale has its license.' : `${licensed} sales have their licenses.`
  return stillParked === 0 ? now : `${now} ${stillParked} like them are still parked.`
}

function replayForm(app: FastifyInstance, { ports }: PageContext): void {
  const replay = pageRoute({ page: 'replay_sales' })
  app.post('/sales/:id/replay', replay, async (request: OneRequest, reply) => {
    const { id } = await saleOf(ports, request)
    return redirectWith(reply, `/dashboard/sales/${id}`, await outcomeOf(ports, request, id))
  })
}

async function outcomeOf(ports: ReplayPorts, request: FastifyRequest, id: string): Promise<FlashMessage> {
  try {
    await replaySale(ports, principalOf(request).tenantId, id, originOfMember(request))
    return { kind: 'done', text: 'Sale replayed. Its license is up to date.' }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { kind: 'wrong', text: `${problemOfRefusal(error.code).message}.` }
  }
}
