import { z } from 'zod'
import { listProducts, type PresentProduct } from '../../../../projections/products/queries.ts'
import { changeProduct, createProduct } from '../../../commands/products.ts'
import { keyPrefixOf } from '../../../domain/products/product.ts'
import { SlugInPath, slugOf } from '../../../domain/values.ts'
import { productAsOf } from '../../../history/as-of.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { invalid, notFound } from '../../../http/problem.ts'
import { asOfFrom, asOfQuery } from '../../../http/query.ts'
import { answer, errors, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { answerPage } from '../page.ts'
import { keyTypeFrom, keyTypeView, productChange, productIn, productOut, settingsFrom } from './schemas.ts'

export const oneProduct = z.object({ product: productOut })
const onlyProductId = z.strictObject({ productId: SlugInPath })

export function productView({
  status: _,
  tenantId: __,
  testKeys: ___,
  ...product
}: PresentProduct): z.infer<typeof productOut> {
  return { ...product, keyTypes: product.keyTypes.map(keyTypeView) }
}

/** @throws Problem 404 for an unknown product and for another tenant's */
export async function requireProduct(
  ports: Ports<'findProduct'>,
  tenantId: string,
  productId: string,
): Promise<PresentProduct> {
  const product = await ports.findProduct(tenantId, productId)
  if (!product) throw notFound('product')
  return product
}

/** What the routes of products use. */
type ProductPorts = Ports<
  'db' | 'execute' | 'findProduct' | 'keptKeys' | 'ledger' | 'newId' | 'now' | 'planCapacity' | 'randomBytes'
>

export function productRoutes(app: ZodApp, ports: ProductPorts, cursors: Cursors): void {
  listRoute(app, ports, cursors)
  createRoute(app, ports)
  readRoute(app, ports)
  changeRoute(app, ports)
}

function listRoute(app: ZodApp, ports: Ports<'db'>, cursors: Cursors): void {
  app.get(
    '/v1/products',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'listProducts',
        tags: ['Products'],
        summary: 'List products, newest first',
        description: 'Each comes with its settings and all its key types.',
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of products', pageOf(productOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return answerPage(
        cursors,
        [tenantId, 'products'],
        request.query,
        (keyset) => listProducts(ports.db, tenantId, keyset),
        (products) => products.map(productView),
      )
    },
  )
}

function createRoute(
  app: ZodApp,
  ports: Ports<'execute' | 'findProduct' | 'newId' | 'now' | 'planCapacity' | 'randomBytes'>,
): void {
  app.post(
    '/v1/products',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'createProduct',
        tags: ['Products'],
        summary: 'Create a product; without key types it gets one named default',
        description:
          'Its id cannot be changed later, since apps and webhooks name it. A plan that allows no more products is 402, and an id ' +
          'that is in use 409.',
        body: productIn,
        response: { 201: answer('The product', oneProduct), ...errors(400, 402, 403, 409) },
      },
    },
    async (request, reply) => {
      const { tenantId, plan } = callerIn(request)
      const { name, keyTypes = [], ...body } = request.body
      const productId = body.productId ?? slugOf(name)
      if (productId === '') throw invalid('no id can be made from the name; send productId')
      const product = await createProduct(
        runPorts(request, ports),
        {
          tenantId,
          plan,
          productId,
          name,
          keyPrefix: body.keyPrefix ?? keyPrefixOf(name),
          settings: settingsFrom(withoutId(body)),
          keyTypes: keyTypes.map(keyTypeFrom),
        },
        runOriginOf(request),
      )
      void reply.code(201)
      return { product: productView(product) }
    },
  )
}

function readRoute(app: ZodApp, ports: Ports<'findProduct' | 'ledger' | 'now'>): void {
  app.get(
    '/v1/products/:productId',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'getProduct',
        tags: ['Products'],
        summary: 'Read a product, now or at a past moment',
        description: 'With `asOf`, its settings and key types are those of that moment.',
        params: onlyProductId,
        querystring: asOfQuery,
        response: { 200: answer('The product', oneProduct), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = request.params
      const asOf = asOfFrom(request.query.asOf)
      const product = asOf
        ? await productAsOf(ports, tenantId, productId, asOf)
        : await requireProduct(ports, tenantId, productId)
      return { product: productView(product) }
    },
  )
}

function changeRoute(app: ZodApp, ports: Ports<'execute' | 'findProduct' | 'keptKeys' | 'now'>): void {
  app.patch(
    '/v1/products/:productId',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'updateProduct',
        tags: ['Products'],
        summary: 'Change a product; omitted fields keep their value',
        description:
          'Settings apply from the next call of an app on. The `keyPrefix` is that of keys issued from now on.',
        params: onlyProductId,
        body: productChange,
        response: { 200: answer('The product', oneProduct), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { name, keyPrefix } = request.body
      const change = {
        ...(name && { name }),
        ...(keyPrefix && { keyPrefix }),
        settings: settingsFrom(request.body),
      }
      const { productId } = request.params
      return {
        product: productView(await changeProduct(ports, tenantId, productId, change, originOf(request))),
      }
    },
  )
}

const withoutId = ({ productId: _, ...body }: Omit<z.infer<typeof productIn>, 'name' | 'keyTypes'>) => body
