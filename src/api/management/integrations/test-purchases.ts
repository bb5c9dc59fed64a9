import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { findTestPurchase } from '../../../../projections/test-purchases.ts'
import { licenseOfTestPurchase, startTestPurchase } from '../../../commands/test-purchases.ts'
import { isId } from '../../../credentials/id.ts'
import { Provider } from '../../../domain/integrations/provider.ts'
import { Stage } from '../../../domain/test-purchases/events.ts'
import type { KnownTestPurchase } from '../../../domain/test-purchases/test-purchase.ts'
import { Slug } from '../../../domain/values.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { notFound } from '../../../http/problem.ts'
import { answer, errors, momentOut } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import type { RunTestPurchase } from '../../../reactions/test-purchases.ts'
import { requireProduct } from '../products/products.ts'

const testPurchaseOut = z
  .object({
    id: z
      .string()
      .meta({ description: 'The id of the test purchase', example: 'tp_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    productId: Slug,
    keyTypeId: Slug,
    provider: Provider,
    status: z
      .enum(['running', 'succeeded', 'failed'])
      .meta({ description: 'How the whole of it stands', example: 'succeeded' }),
    stages: z
      .array(
        z.object({
          name: Stage.meta({ description: 'Which stage it is', example: 'license_minted' }),
          status: z
            .enum(['pending', 'running', 'done', 'failed'])
            .meta({ description: 'How this stage stands', example: 'done' }),
          at: momentOut.nullable().meta({
            description: 'When its status last changed; null while it is pending',
            example: '2026-11-21T09:30:02.000Z',
          }),
          detail: z
            .string()
            .nullable()
            .meta({ description: 'Why it failed, and what to do; null if it did not', example: null }),
        }),
      )
      .meta({
        description: 'The stages of a sale, in order',
        example: [
          { name: 'checkout', status: 'done', at: '2026-11-21T09:30:00.000Z', detail: null },
          { name: 'webhook', status: 'done', at: '2026-11-21T09:30:01.000Z', detail: null },
          { name: 'license_minted', status: 'done', at: '2026-11-21T09:30:02.000Z', detail: null },
        ],
      }),
    licenseId: z.string().optional().meta({
      description: 'The test license; absent until the test purchase has succeeded',
      example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    startedAt: momentOut,
  })
  .meta({ id: 'TestPurchase', description: 'A sale that is simulated from end to end' })

const oneTestPurchase = z.object({ testPurchase: testPurchaseOut })

const pollLater = {
  'Retry-After': { type: 'integer', description: 'Seconds to wait before the next poll' },
}

/** Tells the client to poll again after one second. */
const retryAfter = (reply: FastifyReply) => reply.header('retry-after', '1')

/** What the routes of test purchases use. */
type TestPurchasePorts = Ports<'db' | 'execute' | 'findProduct' | 'ledger' | 'newId' | 'now' | 'randomBytes'>

export function testPurchaseRoutes(app: ZodApp, ports: TestPurchasePorts, run: RunTestPurchase): void {
  startRoute(app, ports, run)
  pollRoute(app, ports)
}

const started = {
  testPurchase: {
    status: 'running',
    stages: [
      { name: 'checkout', status: 'running', at: '2026-11-21T09:30:00.000Z', detail: null },
      { name: 'webhook', status: 'pending', at: null, detail: null },
      { name: 'license_minted', status: 'pending', at: null, detail: null },
    ],
  },
}

function startRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findProduct' | 'newId' | 'now' | 'randomBytes'>,
  run: RunTestPurchase,
): void {
  app.post(
    '/v1/test-purchase',
    {
      config: {
        scope: 'licenses:write',
        refusedWhileSuspended: true,
        noDryRun: 'it is itself a test, whose stages take part only in the call itself',
      },
      schema: {
        operationId: 'startTestPurchase',
        tags: ['Test purchases'],
        summary: 'Run a test purchase to check that a product can be sold',
        description:
          "No payment is made. A notification in the provider's format, with the provider's signature, is sent to the provider's webhook route; the license that it creates is marked as a test. Its key is mailed to the owner of the workspace.",
        body: z
          .strictObject({
            productId: Slug,
            keyTypeId: Slug.optional().meta({ description: "Defaults to the product's first key type" }),
            provider: Provider.optional().meta({
              description: 'Defaults to the first connected provider with a mapping for the product',
            }),
          })
          .meta({ example: { productId: 'editor' } }),
        response: {
          202: { ...answer('The test purchase has started', oneTestPurchase, started), headers: pollLater },
          ...errors(400, 403, 404, 409),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { productId, ...input } = request.body
      const product = await requireProduct(ports, tenantId, productId)
      const origin = originOf(request)
      const own = runPorts(request, ports)
      const purchase = await startTestPurchase(own, product, input, runOriginOf(request))
      // Not awaited: the process manager resumes a purchase that fails here.
      run(purchase.testPurchaseId, origin).catch((err: unknown) =>
        request.log.warn({ err, request_id: request.id }, 'test_purchase.interrupted'),
      )
      return retryAfter(reply)
        .code(202)
        .send({ testPurchase: testPurchaseView(purchase) })
    },
  )
}

function pollRoute(app: ZodApp, ports: Ports<'db' | 'ledger'>): void {
  app.get(
    '/v1/test-purchase/:id',
    {
      config: { scope: 'licenses:write' },
      schema: {
        operationId: 'getTestPurchase',
        tags: ['Test purchases'],
        summary: 'Read the progress of a test purchase',
        description: 'Poll it every second, as `Retry-After` says, until `status` is no longer `running`.',
        params: z.strictObject({ id: z.string() }),
        response: {
          200: {
            ...answer('The progress of the test purchase', oneTestPurchase),
            headers: pollLater,
          },
          ...errors(400, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { id } = request.params
      const purchase = isId('tp', id) ? await findTestPurchase(ports.db, tenantId, id) : undefined
      if (!purchase) throw notFound('test purchase')
      const licenseId = await licenseOfTestPurchase(ports, purchase)
      return retryAfter(reply).send({ testPurchase: testPurchaseView(purchase, licenseId) })
    },
  )
}

/** The public form of a test purchase. */
export function testPurchaseView(
  purchase: KnownTestPurchase,
  licenseId?: string,
): z.infer<typeof testPurchaseOut> {
  const { testPurchaseId: id, productId, keyTypeId, provider, status, stages, startedAt } = purchase
  return {
    id,
    productId,
    keyTypeId,
    provider,
    status,
    stages: [...stages],
    ...(licenseId && { licenseId }),
    startedAt,
  }
}
