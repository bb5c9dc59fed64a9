import { z } from 'zod'
import { cardStatus, startOnboarding } from '../../../commands/integrations/card-account.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { answer, errors, momentOut } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/zod-app.ts'
import type { Ports } from '../../../ports.ts'
import { onboardingAddresses } from '../../payments/onboarding.ts'

const statusOut = z
  .object({
    provider: z.literal('stripe'),
    connected: z.boolean(),
    status: z.enum(['not_connected', 'onboarding', 'connected']),
    connectedAt: momentOut.nullable(),
    accountId: z.string().nullable().meta({ example: 'acct_1Nv0FGQ9RKHgCVdK' }),
    account: z
      .object({
        detailsSubmitted: z.boolean(),
        chargesEnabled: z.boolean().meta({ description: 'Stripe accepts no payments until this is true' }),
        payoutsEnabled: z.boolean(),
      })
      .nullable()
      .meta({ description: 'As Stripe reports it now; null if there is no account, or no access to it' }),
  })
  .meta({ id: 'CardAccountStatus' })

export function cardAccountRoutes(
  app: ZodApp,
  services: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  baseUrl: string,
): void {
  connectRoute(app, services, baseUrl)
  statusRoute(app, services)
}

function connectRoute(
  app: ZodApp,
  services: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  baseUrl: string,
): void {
  app.post(
    '/v1/integrations/stripe/connect',
    {
      config: { scope: 'integrations:write', ownTime: true },
      schema: {
        operationId: 'connectStripe',
        tags: ['Integrations'],
        summary: "Start or continue to connect the tenant's own Stripe account",
        description:
          'A person opens `url` and completes Stripe Connect Onboarding; returning from it finishes the connection. The URL works once and for a few minutes; request a new one at any time.',
        body: z.strictObject({}).nullish(),
        response: {
          200: answer(
            'The onboarding URL',
            z.object({
              url: z
                .url()
                .meta({ example: 'https://connect.stripe.com/setup/s/acct_1Nv0FGQ9RKHgCVdK/TqckGNUHg2mG' }),
            }),
          ),
          ...errors(400, 403, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const addresses = onboardingAddresses(baseUrl, tenantId)
      return { url: await startOnboarding(services, tenantId, addresses, originOf(request)) }
    },
  )
}

function statusRoute(app: ZodApp, services: Ports<'db' | 'providers'>): void {
  app.get(
    '/v1/integrations/stripe/status',
    {
      config: { scope: 'integrations:read', ownTime: true },
      schema: {
        operationId: 'getStripeStatus',
        tags: ['Integrations'],
        summary: 'Read the state of the connected Stripe account',
        response: { 200: answer('The connection', statusOut), ...errors(403, 422) },
      },
    },
    async (request) => {
      const found = await cardStatus(services, callerIn(request).tenantId)
      return { provider: 'stripe' as const, connected: found.status === 'connected', ...found }
    },
  )
}
