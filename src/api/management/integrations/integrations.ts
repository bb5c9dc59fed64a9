import { z } from 'zod'
import { listIntegrations, listPricedProducts } from '../../../../projections/integrations.ts'
import { mapPrices } from '../../../commands/checkout/prices.ts'
import { connectWithEndpoint, disconnectProvider } from '../../../commands/integrations/endpoints.ts'
import {
  connectMarketplace,
  mapCreditPacks,
  mapProduct,
} from '../../../commands/integrations/integrations.ts'
import { mappedBy, Provider, SigningMarketplace } from '../../../domain/integrations/provider.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { SlugInPath } from '../../../domain/values.ts'
import { rotateProviderSecret } from '../../../gate/operations/rotate-provider-secret.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { answer, errors, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { endpointUrlOf, pingUrlOf } from '../../../payments/addresses.ts'
import type { Ports } from '../../../ports.ts'
import { requireProduct } from '../products/products.ts'
import {
  checkMappingField,
  connectIn,
  connectionFrom,
  endpointIn,
  endpointOut,
  formerEndpointOut,
  integrationOut,
  integrationView,
  mappingFrom,
  mappingIn,
  oneIntegration,
  packsFrom,
  packsIn,
  pingUrlOut,
  providerParam,
  readIntegration,
  requireProvider,
} from './schemas.ts'

export function integrationRoutes(
  app: ZodApp,
  ports: ApprovalPorts & Ports<'providers'>,
  cursors: Cursors,
  baseUrl: string,
): void {
  listRoute(app, ports, cursors)
  connectRoute(app, ports, baseUrl)
  endpointRoute(app, ports, baseUrl)
  disconnectRoute(app, ports, baseUrl)
  rotateRoute(app, ports, baseUrl)
  configureRoute(app, ports)
  creditPacksRoute(app, ports)
}

function shownOnce(baseUrl: string, tenantId: string, token: string | undefined): { pingUrl?: string } {
  return token === undefined ? {} : { pingUrl: pingUrlOf(baseUrl, tenantId, token) }
}

/** The five providers are listed in the fixed order of the contract, so their cursors have a constant time. */
const noAge = '1970-01-01T00:00:00.000Z'

function listRoute(app: ZodApp, ports: Ports<'db'>, cursors: Cursors): void {
  app.get(
    '/v1/integrations',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listIntegrations',
        tags: ['Integrations'],
        summary: 'List the five payment providers, connected or not, with their mappings',
        description: 'Always in the same order, Stripe first; `order=oldest` reverses it.',
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of providers', pageOf(integrationOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { cursor, limit, order } = request.query
      const boundTo = [tenantId, 'integrations', order]
      const after = Provider.optional().parse(cursors.read(boundTo, cursor)?.id)
      // Providers have no age: the oldest are the last of their fixed order.
      const all = order === 'oldest' ? Provider.options.toReversed() : Provider.options
      const first = after === undefined ? 0 : all.indexOf(after) + 1
      const providers = all.slice(first, first + limit)
      const last = providers.at(-1)
      const isEnd = first + limit >= Provider.options.length
      const [known, priced] = await Promise.all([
        listIntegrations(ports.db, tenantId),
        listPricedProducts(ports.db, tenantId),
      ])
      const items = providers.map((provider) =>
        integrationView(
          provider,
          known.find((integration) => integration.provider === provider),
          priced,
        ),
      )
      const next = isEnd || !last ? undefined : { createdAt: noAge, id: last }
      return { items, nextCursor: cursors.write(boundTo, next) }
    },
  )
}

function connectRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  baseUrl: string,
): void {
  app.post(
    '/v1/integrations/:provider/connect',
    {
      config: { scope: 'integrations:write', noRequestTimeout: true, dryRun: true },
      schema: {
        operationId: 'connectIntegration',
        tags: ['Integrations'],
        summary: 'Connect a marketplace',
        description:
          'Gumroad needs nothing and returns the ping URL once. The others need `webhookSecret`; an `apiKey` is checked with the provider first. Stripe has its own operation.',
        params: providerParam,
        body: connectIn,
        response: {
          200: answer('Connected', oneIntegration.extend({ pingUrl: pingUrlOut })),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const provider = requireProvider(request.params.provider)
      // Stripe has its own connect route.
      if (provider === 'stripe') throw new Refusal('provider_not_found')
      const connection = connectionFrom(provider, request.body)
      const { pingToken } = await connectMarketplace(
        ports,
        tenantId,
        connection,
        request.id,
        originOf(request),
      )
      const integration = await readIntegration(ports, tenantId, provider)
      return { integration, ...shownOnce(baseUrl, tenantId, pingToken) }
    },
  )
}

function endpointRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  baseUrl: string,
): void {
  app.post(
    '/v1/integrations/:provider/endpoint',
    {
      config: {
        scope: 'integrations:write',
        noRequestTimeout: true,
        noDryRun: 'it makes an endpoint at the provider, which takes part only in the call itself',
      },
      schema: {
        operationId: 'createProviderEndpoint',
        tags: ['Integrations'],
        summary: 'Create the webhook endpoint at a provider, and connect it with the secret of that endpoint',
        description:
          `For ${SigningMarketplace.options.toReversed().join(', ')} and the own account at stripe. ` +
          'The key must be able to list, create and delete webhook endpoints. An endpoint with the address of this tenant that is there already is used where the provider shows its secret; otherwise 409, unless `replace` is true.',
        params: providerParam,
        body: endpointIn,
        response: {
          200: answer('Connected', oneIntegration.extend({ endpoint: endpointOut })),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const provider = requireProvider(request.params.provider)
      if (provider === 'gumroad') throw new Refusal('provider_without_endpoints')
      const { apiKey, replace = false, store } = request.body
      const address = endpointUrlOf(baseUrl, tenantId, provider)
      const input = { tenantId, provider, apiKey, address, replace, store }
      const { endpoint } = await connectWithEndpoint(ports, input, request.id, originOf(request))
      const integration = await readIntegration(ports, tenantId, provider)
      return { integration, endpoint: endpoint && { url: address, ...endpoint } }
    },
  )
}

const disconnected = { integration: { connected: false, connectedAt: null } }

function disconnectRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'secrets'>,
  baseUrl: string,
): void {
  app.delete(
    '/v1/integrations/:provider',
    {
      config: { scope: 'integrations:write', dryRun: true, noRequestTimeout: true },
      schema: {
        operationId: 'disconnectIntegration',
        tags: ['Integrations'],
        summary: 'Disconnect a provider and destroy its secrets; its mappings stay',
        description:
          'An endpoint that was created at the provider by `createProviderEndpoint` is removed there, with the key of the connection. Where that fails, the provider is disconnected all the same, and `endpoint` says so.',
        params: providerParam,
        response: {
          200: answer('Not connected', oneIntegration.extend({ endpoint: formerEndpointOut }), disconnected),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const provider = requireProvider(request.params.provider)
      const endpoint = await disconnectProvider(ports, tenantId, provider, originOf(request))
      const integration = await readIntegration(ports, tenantId, provider)
      if (endpoint === null || provider === 'gumroad') return { integration, endpoint: null }
      return { integration, endpoint: { url: endpointUrlOf(baseUrl, tenantId, provider), ...endpoint } }
    },
  )
}

function rotateRoute(app: ZodApp, ports: ApprovalPorts, baseUrl: string): void {
  gatedRoute(app, ports, rotateProviderSecret, {
    operationId: 'rotateIntegrationSecret',
    tags: ['Integrations'],
    summary: "Replace the secret that verifies a marketplace's notifications",
    description:
      'The previous secret is rejected immediately. Gumroad gets a new ping URL, shown only in this response; for the others, send the new `webhookSecret`. For Stripe only where it is connected with a key of the own account.',
    response: {
      200: answer('Rotated', oneIntegration.extend({ pingUrl: pingUrlOut })),
      ...errors(404, 409, 422),
    },
    reply: async ({ integration: { provider }, pingToken }, { request }) => {
      const { tenantId } = callerIn(request)
      const integration = await readIntegration(ports, tenantId, provider)
      return { integration, ...shownOnce(baseUrl, tenantId, pingToken) }
    },
  })
}

const fieldsOfSigning = SigningMarketplace.options
  .map((provider) => `${provider} \`{${mappedBy[provider]}: {id: keyTypeId}}\``)
  .join('; ')

function configureRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'providers' | 'secrets'>,
): void {
  app.post(
    '/v1/products/:productId/integrations/:provider',
    {
      config: { scope: 'integrations:write', noRequestTimeout: true, dryRun: true },
      schema: {
        operationId: 'configureProductIntegration',
        tags: ['Integrations'],
        summary: "Map a provider's products to a product's key types",
        description:
          `gumroad \`{permalinks}\`; ${fieldsOfSigning}; ` +
          'stripe `{prices: {keyTypeId: priceId}}`, whose prices are read from Stripe and shown with the key types, or `{paymentLinks: {id: keyTypeId}}`.',
        params: z.strictObject({ productId: SlugInPath, ...providerParam.shape }),
        body: mappingIn,
        response: { 200: answer('The provider', oneIntegration), ...errors(400, 403, 404, 409, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = request.params
      const provider = requireProvider(request.params.provider)
      checkMappingField(provider, request.body)
      const product = await requireProduct(ports, tenantId, productId)
      if (provider === 'stripe' && request.body.paymentLinks === undefined)
        await mapPrices(ports, product, request.body.prices ?? {}, originOf(request))
      else await mapProduct(ports, product, provider, mappingFrom(request.body), originOf(request))
      return { integration: await readIntegration(ports, tenantId, provider) }
    },
  )
}

function creditPacksRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'secrets'>,
): void {
  app.post(
    '/v1/products/:productId/integrations/:provider/credit-packs',
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: 'configureCreditPacks',
        tags: ['Integrations'],
        summary: 'Say what of a provider sells credits for the licenses of a product',
        description:
          'A purchase adds the amount, times its quantity, to the meter of the license that the checkout names in `license_id` of its ' +
          'custom data, or else of the newest active license of the buyer that has the meter. Where there is none, the sale is parked.',
        params: z.strictObject({ productId: SlugInPath, ...providerParam.shape }),
        body: packsIn,
        response: { 200: answer('The provider', oneIntegration), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const provider = requireProvider(request.params.provider)
      const product = await requireProduct(ports, tenantId, request.params.productId)
      await mapCreditPacks(ports, product, provider, packsFrom(request.body), originOf(request))
      return { integration: await readIntegration(ports, tenantId, provider) }
    },
  )
}
