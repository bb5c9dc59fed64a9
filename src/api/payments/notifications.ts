import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { SigningMarketplace } from '../../domain/integrations/provider.ts'
import { invalid } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/zod-app.ts'
import { paymentProviders } from '../../payments/registry.ts'
import type { Ports } from '../../ports.ts'
import type { ReceivedOutcome } from '../../sales/advance.ts'
import type { SalePorts } from '../../sales/receive.ts'
import { type VerifiedNotification, verifyGumroadForm, verifySigned } from '../../sales/verify.ts'
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
  tenantIn,
  tenantPath,
} from './received.ts'
import { stripeRoutes } from './stripe-notifications.ts'

const issued = received.extend({
  license_id: z.string().optional().meta({
    description: 'The license that was issued; absent for a notification that issued none',
    example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  license_key: z.string().optional().meta({
    description: 'The raw key, shown only in this response; absent for a notification that issued no license',
    example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7',
  }),
})

/**
 * The webhook endpoints of the payment providers. Bodies are taken as raw bytes, because the signatures cover
 * those.
 */
export function notificationRoutes(app: ZodApp, ports: SalePorts & Ports<'providers'>): void {
  void app.register(async (bare: ZodApp) => {
    bare.removeAllContentTypeParsers()
    bare.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    stripeRoutes(bare, ports)
    gumroadRoutes(bare, ports)
    for (const provider of SigningMarketplace.options) signedRoute(bare, ports, provider)
  })
}

function gumroadRoutes(app: ZodApp, ports: SalePorts): void {
  const query = z.object({
    token: z.string().optional().meta({ description: 'The token of the ping URL' }),
  })
  const shown = { ...common, params: tenantPath, querystring: query }
  app.post(
    '/webhooks/gumroad/:tenantId',
    {
      config,
      bodyLimit,
      // Every malformed token gets the same response.
      attachValidation: true,
      schema: {
        ...shown,
        operationId: 'receiveGumroadPing',
        summary: 'Receive a sale from Gumroad',
        description:
          'Authenticated by the `token` in the ping URL. The response contains the license key, unlike that to other providers.',
        response: {
          200: answer('Issued, or already known', issued),
          204: nothing,
          ...errorsWith(errorBody, 400, 403),
        },
      },
    },
    async (request, reply) => {
      const verify = () => verifyGumroad(ports, 'ping', request)
      const outcome = await receive(ports, 'gumroad', verify, request)
      if (outcome?.outcome === 'parked') throw invalid(whyParked(outcome))
      if (outcome?.outcome !== 'issued') return acknowledge(reply, outcome)
      const { license, licenseKey } = outcome
      return { received: true as const, license_id: license.licenseId, license_key: licenseKey }
    },
  )
  app.post(
    '/webhooks/gumroad/:tenantId/resources',
    {
      config,
      bodyLimit,
      attachValidation: true,
      schema: {
        ...shown,
        operationId: 'receiveGumroadResource',
        summary:
          'Receive refunds, disputes and ended subscriptions from Gumroad, which sends them to URLs subscribed through its API',
        description: 'Authenticated by the `token` in the URL.',
        response: { 200: answer('Accepted', received), 204: nothing, ...errorsWith(errorBody, 400, 403) },
      },
    },
    async (request, reply) => {
      const verify = () => verifyGumroad(ports, 'resource', request)
      return acknowledge(reply, await receive(ports, 'gumroad', verify, request))
    },
  )
}

async function verifyGumroad(
  ports: Ports<'db' | 'ledger' | 'now'>,
  kind: 'ping' | 'resource',
  request: FastifyRequest,
): Promise<VerifiedNotification> {
  const { token } = Object(request.query) as { token?: unknown }
  const address = { kind, token: typeof token === 'string' ? token : '' }
  const tenantId = tenantIn(request)
  const verified = await verifyGumroadForm(ports, tenantId, address, incomingOf(request))
  return verified ?? refuse(ports, tenantId, 'gumroad', invalid('Invalid request'))
}

function signedRoute(app: ZodApp, ports: SalePorts & Ports<'providers'>, provider: SigningMarketplace): void {
  const { operationId, summary, vouches } = paymentProviders[provider].receiving
  app.post(
    `/webhooks/${provider}/:tenantId`,
    {
      config,
      bodyLimit,
      schema: {
        ...common,
        operationId,
        summary,
        description:
          `${vouches}, made with the secret that the provider was connected with. A sale for which it is unknown ` +
          'what to issue is parked, and the response says `parked`.',
        params: tenantPath,
        response: {
          200: answer('Accepted', received),
          204: nothing,
          ...errorsWith(errorBody, 400, 403, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = request.params
      const verify = async () => {
        const verified = await verifySigned(ports, tenantId, provider, incomingOf(request))
        return verified ?? refuse(ports, tenantId, provider, invalid('Invalid request'))
      }
      return acknowledge(reply, await receive(ports, provider, verify, request))
    },
  )
}

function whyParked({ reason, detail }: Extract<ReceivedOutcome, { outcome: 'parked' }>): string {
  if (reason === 'no_mapping') return `No product mapping for permalink '${detail}'`
  if (reason === 'product_not_found') return `Product '${detail}' not found`
  return `Kept, but not licensed: ${reason.replaceAll('_', ' ')}`
}
