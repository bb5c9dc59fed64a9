import { z } from 'zod'
import { cardStatus, startOnboarding } from '../../../commands/integrations/card-account.ts'
import { connectOwnAccount } from '../../../commands/integrations/own-account.ts'
import { ProviderCredential } from '../../../domain/integrations/provider.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { answer, errors, momentOut } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { onboardingAddresses } from '../../../payments/addresses.ts'
import type { Ports } from '../../../ports.ts'
import { oneIntegration, readIntegration } from './schemas.ts'
import { useReportRoutes } from './use-reports.ts'

const statusOut = z
  .object({
    provider: z.literal('stripe'),
    connected: z.boolean().meta({ description: 'Whether an account is connected', example: true }),
    status: z.enum(['not_connected', 'onboarding', 'connected']).meta({
      description: '`onboarding` while a person has not completed it at Stripe',
      example: 'connected',
    }),
    mode: z.enum(['connect', 'own_account']).nullable().meta({
      example: 'connect',
      description:
        '`connect`: through the platform of this installation. `own_account`: with a key of the own account. null: neither',
    }),
    test: z.boolean().meta({
      description: 'Whether the own account is connected with a test key',
      example: false,
    }),
    connectedAt: momentOut.nullable(),
    accountId: z.string().nullable().meta({
      example: 'acct_1Nv0FGQ9RKHgCVdK',
      description: "Stripe's id of the account; null in other modes than `connect`",
    }),
    account: z
      .object({
        detailsSubmitted: z
          .boolean()
          .meta({ description: 'Whether the account has given Stripe all its details', example: true }),
        chargesEnabled: z
          .boolean()
          .meta({ description: 'Stripe accepts no payments until this is true', example: true }),
        payoutsEnabled: z
          .boolean()
          .meta({ description: 'Stripe pays nothing out until this is true', example: true }),
      })
      .nullable()
      .meta({ description: 'As Stripe reports it now; null if there is no account, or no access to it' }),
  })
  .meta({ id: 'CardAccountStatus', description: 'The connection to Stripe' })

export function cardAccountRoutes(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  baseUrl: string,
): void {
  connectRoute(app, ports, baseUrl)
  ownAccountRoute(app, ports)
  statusRoute(app, ports)
  useReportRoutes(app, ports)
}

function connectRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  baseUrl: string,
): void {
  app.post(
    '/v1/integrations/stripe/connect',
    {
      config: {
        scope: 'integrations:write',
        noRequestTimeout: true,
        noDryRun: 'it opens an account at Stripe, which takes part only in the call itself',
      },
      schema: {
        operationId: 'connectStripe',
        tags: ['Integrations'],
        summary:
          "Start or continue to connect the tenant's Stripe account through the platform of this installation",
        description:
          'A person opens `url` and completes Stripe Connect Onboarding; returning from it finishes the connection. The URL works once and for a few minutes; request a new one at any time. The platform deducts its fee from each sale. Without a platform: `POST /v1/integrations/stripe/own-account`.',
        body: z.strictObject({}).nullish(),
        response: {
          200: answer(
            'The onboarding URL',
            z.object({
              url: z.url().meta({
                description: 'Where a person completes the onboarding; it works once and for a few minutes',
                example: 'https://connect.stripe.com/setup/s/acct_1Nv0FGQ9RKHgCVdK/TqckGNUHg2mG',
              }),
            }),
          ),
          ...errors(400, 403, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const addresses = onboardingAddresses(baseUrl, tenantId)
      return { url: await startOnboarding(ports, tenantId, addresses, originOf(request)) }
    },
  )
}

const connected = {
  integration: {
    provider: 'stripe',
    kind: 'card',
    connected: true,
    connectedAt: '2026-11-02T10:12:00.000Z',
    products: [{ productId: 'editor', mapping: { prices: { pro: 'price_1QwGk2LkdIwHu7ixVbTq3aYz' } } }],
  },
}

function ownAccountRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'secrets'>,
): void {
  app.post(
    '/v1/integrations/stripe/own-account',
    {
      config: {
        scope: 'integrations:write',
        noRequestTimeout: true,
        noDryRun: 'Stripe checks the key, in the call itself',
      },
      schema: {
        operationId: 'connectOwnStripeAccount',
        tags: ['Integrations'],
        summary: "Connect the tenant's own Stripe account with a key of that account, without a platform fee",
        description:
          'Add a webhook endpoint at Stripe with the URL `/api/stripe/webhook/{tenantId}` first, and send its signing secret. The restricted key must be able to read prices and to write checkout sessions.',
        body: z
          .strictObject({
            apiKey: ProviderCredential.meta({
              description:
                'A restricted key, `rk_live_…` or `rk_test_…`; checked with Stripe before it is stored',
            }),
            webhookSecret: ProviderCredential.meta({
              description: "The signing secret of the account's own endpoint, `whsec_…`",
            }),
          })
          .meta({ example: { apiKey: 'rk_live_51T8oxK...', webhookSecret: 'whsec_8f3b...' } }),
        response: { 200: answer('Connected', oneIntegration, connected), ...errors(400, 403, 409, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      await connectOwnAccount(ports, tenantId, request.body, request.id, originOf(request))
      return { integration: await readIntegration(ports, tenantId, 'stripe') }
    },
  )
}

function statusRoute(app: ZodApp, ports: Ports<'db' | 'providers' | 'secrets'>): void {
  app.get(
    '/v1/integrations/stripe/status',
    {
      config: { scope: 'integrations:read', noRequestTimeout: true },
      schema: {
        operationId: 'getStripeStatus',
        tags: ['Integrations'],
        summary: 'Read the state of the connected Stripe account',
        description: 'Asks Stripe for the state of the account, so it may take some seconds.',
        response: { 200: answer('The connection', statusOut), ...errors(403, 422) },
      },
    },
    async (request) => {
      const found = await cardStatus(ports, callerIn(request).tenantId)
      return { provider: 'stripe' as const, connected: found.status === 'connected', ...found }
    },
  )
}
