import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from 'fastify-zod-openapi'
import { z } from 'zod'
import { readIcon } from '../icon/icon.ts'
import { limited } from '../schemas.ts'
import type { ZodApp } from '../validation.ts'
import { cachedDocument, docsPath } from './documents.ts'
import { withEveryAnswer } from './every-answer.ts'
import { withExamples } from './examples.ts'
import { withFieldWords } from './field-words.ts'
import { withIdempotencyKeys } from './idempotency-keys.ts'
import { withObjectParameters } from './object-parameters.ts'
import { withOptionalBodies } from './optional-bodies.ts'
import { apiPage } from './page.ts'
import { describedWebhooks } from './webhooks.ts'

/** Documents every route that is registered after it, and serves the OpenAPI document and the API reference. */
export async function describeApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  describeScopes(app)
  await app.register(fastifyZodOpenApiPlugin, {
    documentOpts: {
      // Responses may gain fields, so clients must not reject unknown ones.
      override: ({ jsonSchema, io }) => {
        if (io === 'output' && jsonSchema.additionalProperties === false)
          delete jsonSchema.additionalProperties
      },
    },
  })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'keyledger',
        version: '1.0.0',
        description: apiPage,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      tags: [
        { name: 'Runtime', description: "License checks by a vendor's own server" },
        {
          name: 'Client',
          description: 'Called by the apps themselves, with the SDK key that ships with them',
        },
        { name: 'Licenses', description: 'Mint, import, list, change and export licenses' },
        { name: 'Products', description: 'The products of a tenant' },
        { name: 'Key types', description: 'The kinds of license that a product sells' },
        { name: 'Customers', description: 'License holders and their entitlement overrides' },
        { name: 'Resellers', description: 'Who sells licenses to customers of their own, within quotas' },
        { name: 'Workspace', description: 'The name and the plan of the tenant' },
        { name: 'Mails', description: 'How mails to customers are worded' },
        { name: 'Portal', description: 'Where customers see their licenses and free seats' },
        { name: 'Usage', description: 'Counts of activations and validations' },
        { name: 'Refusals', description: 'Calls of validate and activate that were refused, and why' },
        { name: 'SDK key', description: "The key that identifies the tenant's apps" },
        { name: 'Webhook', description: 'The webhook that receives license events' },
        { name: 'Integrations', description: 'Payment providers and their product mappings' },
        { name: 'Sales', description: 'Sales reported by payment providers' },
        { name: 'Checkout', description: 'Prices and checkout pages' },
        { name: 'Notifications', description: 'Called by payment providers to report sales and payments' },
        { name: 'Test purchases', description: 'Purchases simulated end to end, without a payment' },
        { name: 'Audit', description: 'Who viewed, exported and decided what' },
        { name: 'Tokens', description: 'Access tokens' },
        { name: 'Login', description: 'Authorize a device that has no browser, and sign it out' },
        { name: 'Confirmations', description: 'Dangerous requests that a person has to approve' },
        { name: 'Transparency', description: 'Proof that the log was not rewritten, for anyone' },
        { name: 'System', description: 'For operators and monitors' },
      ],
      components: {
        securitySchemes: {
          sdkKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Service-SDK-Key',
            description: "The tenant's SDK key, `kl_sdk_…`",
          },
          stripeSignature: {
            type: 'apiKey',
            in: 'header',
            name: 'Stripe-Signature',
            description: "Stripe's signature of the notification",
          },
          checkoutKey: { type: 'http', scheme: 'bearer', description: 'A checkout key, `kl_chk_…`' },
          metricsToken: {
            type: 'http',
            scheme: 'bearer',
            description: "The installation's `KEYLEDGER_METRICS_TOKEN`",
          },
          accessToken: { type: 'http', scheme: 'bearer', description: 'An access token, `kl_pat_…`' },
        },
      },
      security: [{ accessToken: [] }],
      webhooks: describedWebhooks(),
    },
    ...fastifyZodOpenApiTransformers,
    transformObject: withExamples(
      withFieldWords(
        withEveryAnswer(
          withObjectParameters(
            withOptionalBodies(withIdempotencyKeys(fastifyZodOpenApiTransformers.transformObject)),
          ),
        ),
      ),
    ),
  })
  const icon = readIcon()
  const cached = new Map([
    [`${docsPath}/json`, cachedDocument(json, () => JSON.stringify(app.swagger()))],
    [`${docsPath}/yaml`, cachedDocument('application/x-yaml', () => app.swagger({ yaml: true }))],
  ])
  await app.register(swaggerUi, {
    routePrefix: docsPath,
    staticCSP: true,
    uiHooks: {
      // The plugin would serialize it for each request.
      preHandler: (request, reply, next) => {
        const answer = cached.get(request.routeOptions.url ?? '')
        if (answer) void answer(request, reply)
        else next()
      },
    },
    uiConfig: { docExpansion: 'list', persistAuthorization: false },
    logo: { type: 'image/svg+xml', content: icon },
    theme: {
      title: 'keyledger API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: icon }],
    },
  })
}

/** Documents the scopes that an operation requires, from the same config that enforces them. */
function describeScopes(app: FastifyInstance): void {
  app.addHook('onRoute', ({ config, schema }) => {
    const scope = config?.scope
    if (!schema || scope === undefined) return
    schema.security = [{ accessToken: scope === 'any' ? [] : [scope].flat() }]
  })
}

const json = 'application/json; charset=utf-8'

export function openApiRoute(app: ZodApp): void {
  app.get(
    '/v1/openapi.json',
    {
      config: { document: true },
      schema: {
        operationId: 'getOpenApi',
        tags: ['System'],
        summary: 'This OpenAPI document',
        description:
          'It describes every operation of this server but `/mcp`, and is the same while the server runs.',
        security: [],
        response: {
          200: {
            description: 'OpenAPI 3.1',
            content: {
              'application/json': {
                schema: z.record(z.string(), z.unknown()),
                example: { openapi: '3.1.0', info: { title: 'keyledger', version: '1.0.0' }, paths: {} },
              },
            },
          },
          304: { description: 'Unchanged since the ETag that was sent' },
          ...limited(),
        },
      },
    },
    cachedDocument(json, () => JSON.stringify(app.swagger())),
  )
}
