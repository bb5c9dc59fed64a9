import { z } from 'zod'
import { verifyPrices } from '../../../commands/checkout/prices.ts'
import { disableTestMode, enableTestMode, switchTestModeOn } from '../../../commands/checkout/test-mode.ts'
import { changeProduct } from '../../../commands/products.ts'
import { SlugInPath } from '../../../domain/values.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { answer, errors, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { oneProduct, productView, requireProduct } from './products.ts'
import { keyTypeOut, keyTypeView } from './schemas.ts'

const onlyProductId = z.strictObject({ productId: SlugInPath })

/** What the routes for test mode, the free tier and prices use. */
type SellingPorts = Ports<'db' | 'execute' | 'findProduct' | 'keptKeys' | 'now' | 'providers' | 'secrets'>

export function sellingRoutes(app: ZodApp, ports: SellingPorts): void {
  enableTestModeRoute(app, ports)
  disableTestModeRoute(app, ports)
  freeTierRoute(app, ports)
  verifyPricesRoute(app, ports)
}

const inTestMode = { product: { settings: { testMode: { enabled: true, publishableKey: 'pk_test_…' } } } }

function enableTestModeRoute(app: ZodApp, ports: Ports<'execute' | 'findProduct' | 'now' | 'secrets'>): void {
  app.post(
    '/v1/products/:productId/test-mode',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'enableTestMode',
        tags: ['Products'],
        summary: 'Turn on test mode for a product, with or without Stripe test keys',
        description:
          "In test mode, test notifications of all providers take effect. The keys are for Stripe's test checkout; " +
          'an empty body `{}` only turns test mode on and keeps existing keys. The secret key is stored encrypted and never shown ' +
          'again. New keys replace the existing ones.',
        params: onlyProductId,
        body: z
          .strictObject({
            publishableKey: text(255)
              .optional()
              .meta({ description: 'The publishable test key, `pk_test_…`' }),
            secretKey: text(255).optional().meta({
              description: 'The secret test key, `sk_test_…`, or better a restricted one, `rk_test_…`',
            }),
          })
          .refine(
            ({ publishableKey, secretKey }) => (publishableKey === undefined) === (secretKey === undefined),
            'publishableKey and secretKey: send both, or neither to turn on test mode without keys',
          )
          .meta({ example: { publishableKey: 'pk_test_…', secretKey: 'rk_test_…' } }),
        response: { 200: answer('The product', oneProduct, inTestMode), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const product = await requireProduct(ports, tenantId, request.params.productId)
      const { publishableKey, secretKey } = request.body
      const origin = originOf(request)
      const changed =
        publishableKey === undefined || secretKey === undefined
          ? await switchTestModeOn(ports, product, origin)
          : await enableTestMode(ports, product, { publishableKey, secretKey }, request.id, origin)
      return { product: productView(changed) }
    },
  )
}

function disableTestModeRoute(
  app: ZodApp,
  ports: Ports<'execute' | 'findProduct' | 'now' | 'secrets'>,
): void {
  app.delete(
    '/v1/products/:productId/test-mode',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'disableTestMode',
        tags: ['Products'],
        summary: 'Turn off test mode and destroy its secret key',
        description:
          'Test notifications then have no effect again. Test licenses that exist stay as they are.',
        params: onlyProductId,
        response: { 200: answer('The product', oneProduct), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const product = await requireProduct(ports, tenantId, request.params.productId)
      return { product: productView(await disableTestMode(ports, product, originOf(request))) }
    },
  )
}

const withFreeTier = { product: { settings: { freeTierEnabled: true } } }

function freeTierRoute(app: ZodApp, ports: Ports<'execute' | 'findProduct' | 'keptKeys' | 'now'>): void {
  app.post(
    '/v1/products/:productId/free-tier',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'setFreeTier',
        tags: ['Products'],
        summary: 'Turn the free tier on or off',
        description: 'Apps read it with their next call, and then run without a license, or no longer do.',
        params: onlyProductId,
        body: z
          .strictObject({
            enabled: z.boolean().meta({ description: 'Whether the app may be used without a license' }),
          })
          .meta({ example: { enabled: true } }),
        response: { 200: answer('The product', oneProduct, withFreeTier), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = request.params
      const change = { settings: { freeTierEnabled: request.body.enabled } }
      const product = await changeProduct(ports, tenantId, productId, change, originOf(request))
      return { product: productView(product) }
    },
  )
}

function verifyPricesRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'providers' | 'secrets'>,
): void {
  app.post(
    '/v1/products/:productId/key-types/verify-prices',
    {
      config: {
        scope: 'products:write',
        noRequestTimeout: true,
        noDryRun: 'what it records is what Stripe answers, which is asked in the call itself',
      },
      schema: {
        operationId: 'verifyPrices',
        tags: ['Key types'],
        summary: 'Read the price of every key type with a price from Stripe',
        description:
          'Uses the test keys in test mode, and the connected account otherwise. A price that is missing or archived at Stripe is not verified.',
        params: onlyProductId,
        response: {
          200: answer(
            'The updated key types',
            z.object({
              keyTypes: z.array(keyTypeOut).meta({ description: 'All key types of the product' }),
              skipped: z.boolean().meta({
                example: false,
                description: 'True if Stripe is not connected or there is no price to verify',
              }),
            }),
          ),
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const before = await requireProduct(ports, tenantId, request.params.productId)
      const { product, skipped } = await verifyPrices(ports, before, originOf(request))
      return { keyTypes: product.keyTypes.map(keyTypeView), skipped }
    },
  )
}
