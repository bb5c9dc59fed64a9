import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from 'fastify-zod-openapi'
import { z } from 'zod'
import { readIcon } from './dashboard/assets.ts'
import { describedWebhooks } from './described-webhooks.ts'
import { docsPath, keptDocument } from './documents.ts'
import { withEveryAnswer } from './every-answer.ts'
import { withIdempotencyKeys } from './idempotency-description.ts'
import { withOptionalBodies } from './optional-bodies.ts'
import { limited } from './schemas.ts'
import type { ZodApp } from './zod-app.ts'

/** Describes every route that is registered after it, and serves the description and a page to read it on. */
export async function describeApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  describeScopes(app)
  await app.register(fastifyZodOpenApiPlugin, {
    documentOpts: {
      // Answers may grow fields: a client that refuses what it does not know would break then.
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
        description: 'An event-sourced licensing ledger for software vendors.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      tags: [
        { name: 'Runtime', description: "License checks by a vendor's own server" },
        {
          name: 'Client',
          description: 'Called by apps themselves, with the SDK key that they are shipped with',
        },
        { name: 'Licenses', description: 'Mint, import, list, change and export licenses' },
        { name: 'Products', description: 'The apps of a tenant' },
        { name: 'Key types', description: 'What of an app is sold' },
        { name: 'Customers', description: 'Who holds licenses, and what they are granted beside them' },
        { name: 'Usage', description: 'How much is activated and validated' },
        { name: 'SDK key', description: 'The key by which apps of a tenant are known' },
        { name: 'Webhook', description: 'Where license events are delivered' },
        { name: 'Integrations', description: 'Payment providers, and what they sell' },
        { name: 'Sales', description: 'What payment providers have told of as sold' },
        { name: 'Checkout', description: 'What can be bought, and where it is paid for' },
        { name: 'Notifications', description: 'Called by payment providers, when something is sold or paid' },
        { name: 'Test purchases', description: 'Purchases played through without paying' },
        { name: 'Audit', description: 'Who looked at what, took what away and decided over what' },
        { name: 'Tokens', description: 'Access tokens' },
        { name: 'Login', description: 'Sign in a program that has no browser, and sign it out' },
        { name: 'Confirmations', description: 'What a person has to approve before it is executed' },
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
            description: 'How stripe vouches for what it sends',
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
    transformObject: withEveryAnswer(
      withOptionalBodies(withIdempotencyKeys(fastifyZodOpenApiTransformers.transformObject)),
    ),
  })
  const icon = readIcon()
  const kept = new Map([
    [`${docsPath}/json`, keptDocument(json, () => JSON.stringify(app.swagger()))],
    [`${docsPath}/yaml`, keptDocument('application/x-yaml', () => app.swagger({ yaml: true }))],
  ])
  await app.register(swaggerUi, {
    routePrefix: docsPath,
    staticCSP: true,
    uiHooks: {
      // It would be written out anew for each request.
      onRequest: (request, reply, next) => {
        const answer = kept.get(request.routeOptions.url ?? '')
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

/** Each operation says which scopes its token needs, as it declares them where it checks them. */
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
        summary: 'This description',
        security: [],
        response: {
          200: {
            description: 'OpenAPI 3.1',
            content: { 'application/json': { schema: z.record(z.string(), z.unknown()) } },
          },
          304: { description: 'The description is still the one with the ETag that was sent' },
          ...limited(),
        },
      },
    },
    keptDocument(json, () => JSON.stringify(app.swagger())),
  )
}
