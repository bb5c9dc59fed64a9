import { invalid, Problem, unavailable } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/zod-app.ts'
import type { Ports } from '../../ports.ts'
import type { SalePorts } from '../../sales/receive.ts'
import { verifyOwnStripeEvent, verifyStripeEvent } from '../../sales/verify.ts'
import {
  acknowledge,
  bodyLimit,
  common,
  config,
  incomingOf,
  nothing,
  receive,
  received,
  refuse,
  tenantPath,
} from './received.ts'

const described = () => ({
  ...common,
  security: [{ stripeSignature: [] }],
  response: { 200: answer('Accepted', received), 204: nothing, ...errorsWith(errorBody, 400, 401, 403, 422) },
})

const wrongSignature = () => new Problem(401, 'unauthorized', 'Invalid signature')

/** One address for all accounts that are connected through the platform, and one for each tenant's own account. */
export function stripeRoutes(app: ZodApp, ports: SalePorts & Ports<'providers'>): void {
  app.post(
    '/api/stripe/webhook/connect',
    {
      config,
      bodyLimit,
      schema: {
        ...described(),
        operationId: 'receiveStripeEvent',
        summary: 'Receive an event of a connected account from Stripe',
        description:
          'Authenticated by the header `Stripe-Signature`. The event names the account, and so the tenant.',
      },
    },
    async (request, reply) => {
      const secret = ports.providers.cardWebhookSecret
      if (secret === undefined)
        throw unavailable('Stripe notifications are not set up on this installation', 60)
      const verify = async () => {
        const verified = await verifyStripeEvent(ports, secret, incomingOf(request))
        if (verified === 'bad_signature') throw wrongSignature()
        if (!verified) throw invalid('Invalid request')
        return verified
      }
      return acknowledge(reply, await receive(ports, 'stripe', verify, request))
    },
  )
  app.post(
    '/api/stripe/webhook/:tenantId',
    {
      config,
      bodyLimit,
      schema: {
        ...described(),
        operationId: 'receiveOwnStripeEvent',
        summary: "Receive an event of a tenant's own account from Stripe",
        description:
          "Authenticated by the header `Stripe-Signature`, made with the signing secret of the tenant's own endpoint. The response is 401 as well for a tenant that has connected no account of its own.",
        params: tenantPath,
      },
    },
    async (request, reply) => {
      const { tenantId } = request.params
      const verify = async () => {
        const verified = await verifyOwnStripeEvent(ports, tenantId, incomingOf(request))
        return verified ?? refuse(ports, tenantId, 'stripe', wrongSignature())
      }
      return acknowledge(reply, await receive(ports, 'stripe', verify, request))
    },
  )
}
