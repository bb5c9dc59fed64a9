import { z } from 'zod'
import { findSale, listSales, type SaleFilter } from '../../../../projections/sales/queries.ts'
import { isId } from '../../../credentials/id.ts'
import { Provider } from '../../../domain/integrations/provider.ts'
import type { KnownSale } from '../../../domain/sales/sale.ts'
import { Slug } from '../../../domain/values.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { notFound } from '../../../http/problem.ts'
import { answer, errors, onlyId, pageOf, pageQuery, productQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { readBuyer, readBuyers } from '../../../sales/buyers.ts'
import { readSaleHistory } from '../../../sales/history.ts'
import { mapParkedSale, type ReplayPorts, replaySale } from '../../../sales/parked.ts'
import { answerPage, type PageQuery } from '../page.ts'
import { requireProduct } from '../products/products.ts'
import { ignoredTestsRoute } from './ignored-tests.ts'
import { SaleStatus, saleDetailOut, saleDetailView, saleOut, saleView } from './schemas.ts'
import { unmatchedRoute } from './unmatched.ts'

const oneSale = z.object({ sale: saleDetailOut })

export function saleRoutes(app: ZodApp, ports: ReplayPorts & Ports<'subjects'>, cursors: Cursors): void {
  listRoute(app, ports, cursors)
  parkedRoute(app, ports, cursors)
  ignoredTestsRoute(app, ports, cursors)
  unmatchedRoute(app, ports, cursors)
  readRoute(app, ports)
  replayRoute(app, ports)
  mendRoute(app, ports)
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/sales',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listSales',
        tags: ['Sales'],
        summary: 'List sales, newest first',
        description: 'Filters may be combined. Test sales are among them, with `test: true`.',
        querystring: z.strictObject({
          ...pageQuery,
          status: SaleStatus.optional().meta({ description: 'Only sales with this status' }),
          provider: Provider.optional().meta({ description: 'Only sales of this provider' }),
          product: productQuery,
          needs: z.enum(['holder']).optional().meta({
            description: '`holder`: only sales whose license has neither an email address nor a customer',
          }),
        }),
        response: { 200: answer('A page of sales', pageOf(saleOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { status, provider, product: productId, needs } = request.query
      const { tenantId } = callerIn(request)
      return answerSales(ports, cursors, tenantId, { status, provider, productId, needs }, request.query)
    },
  )
}

const parked = {
  status: 'parked',
  parked: { reason: 'no_mapping', detail: 'plink_1QwGk2LkdIwHu7ix', at: '2026-11-21T09:30:00.000Z' },
  productId: null,
  keyTypeId: null,
  licenseId: null,
  licenses: [],
  licensedAt: null,
}

function parkedRoute(app: ZodApp, ports: Ports<'db' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/sales/parked',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listParkedSales',
        tags: ['Sales'],
        summary: 'List parked sales, which are paid but have no license yet, newest first',
        description:
          'Each sale gives the reason. Fix it, for example by adding a mapping, then replay the sale.',
        querystring: z.strictObject(pageQuery),
        response: {
          200: answer('A page of parked sales', pageOf(saleOut), { items: [parked] }),
          ...errors(400, 403),
        },
      },
    },
    async (request) =>
      answerSales(ports, cursors, callerIn(request).tenantId, { status: 'parked' }, request.query),
  )
}

/** Answers a request for a list of sales. */
export function answerSales(
  ports: Ports<'db' | 'subjects'>,
  cursors: Cursors,
  tenantId: string,
  filter: SaleFilter,
  query: PageQuery,
) {
  const { status = null, provider = null, productId = null, needs = null, customer } = filter
  return answerPage(
    cursors,
    [tenantId, 'sales', status, provider, productId, needs, customer?.customerId ?? null],
    query,
    (keyset) => listSales(ports.db, tenantId, filter, keyset),
    async (sales) => {
      const bought = await readBuyers(ports, tenantId, sales)
      return bought.map(({ sale, buyer }) => saleView(sale, buyer))
    },
  )
}

function readRoute(app: ZodApp, ports: Ports<'db' | 'ledger' | 'subjects'>): void {
  app.get(
    '/v1/sales/:id',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'getSale',
        tags: ['Sales'],
        summary: 'Read a sale with its payments and history',
        description:
          'By keyledger’s id. To find a sale by the id of its provider, use `POST /v1/licenses/search`.',
        params: onlyId,
        response: { 200: answer('The sale', oneSale), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { id } = request.params
      const sale = isId('sal', id) ? await findSale(ports.db, tenantId, id) : undefined
      if (!sale) throw notFound('sale')
      return shown(ports, sale)
    },
  )
}

function replayRoute(app: ZodApp, ports: ReplayPorts & Ports<'subjects'>): void {
  app.post(
    '/v1/sales/:id/replay',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'replaySale',
        tags: ['Sales'],
        summary: 'Replay a parked sale once the reason is fixed',
        description:
          'The license starts now. Its key is sent by mail and `license.created`, as for every sale; it is not in the response. ' +
          'A sale with the notice `plan_not_mapped` can be replayed too: its license then changes to the plan of its subscription.',
        params: onlyId,
        response: { 200: answer('The sale with its license', oneSale), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { id } = request.params
      if (!isId('sal', id)) throw notFound('sale')
      return shown(ports, await replaySale(ports, tenantId, id, originOf(request)))
    },
  )
}

function mendRoute(app: ZodApp, ports: ReplayPorts): void {
  app.post(
    '/v1/sales/:id/map',
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: 'mapSale',
        tags: ['Sales'],
        summary: 'Say what a parked sale sold, and license it and all others like it',
        description:
          "The provider's item is mapped to the key type, for later sales as well, and replaces its former mapping. Of the parked sales of the same item up to 100 are licensed by one call. A sale whose item no later sale can have, such as a checkout session of Stripe without a payment link, is licensed without a mapping.",
        params: onlyId,
        body: z
          .strictObject({ productId: Slug, keyTypeId: Slug })
          .meta({ example: { productId: 'editor', keyTypeId: 'pro' } }),
        response: {
          200: answer(
            'How many sales have their license now, and how many like them are parked still',
            z.object({
              licensed: z.int().meta({ description: 'How many sales got their license', example: 3 }),
              stillParked: z
                .int()
                .meta({ description: 'How many sales of the same item still wait', example: 0 }),
            }),
          ),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { id } = request.params
      const sale = isId('sal', id) ? await findSale(ports.db, tenantId, id) : undefined
      if (!sale) throw notFound('sale')
      const { productId, keyTypeId } = request.body
      const product = await requireProduct(ports, tenantId, productId)
      return mapParkedSale(ports, id, product, keyTypeId, originOf(request))
    },
  )
}

async function shown(
  ports: Ports<'db' | 'ledger' | 'subjects'>,
  sale: KnownSale,
): Promise<z.infer<typeof oneSale>> {
  const [buyer, history] = await Promise.all([readBuyer(ports, sale), readSaleHistory(ports, sale)])
  return { sale: saleDetailView(sale, buyer, history) }
}
