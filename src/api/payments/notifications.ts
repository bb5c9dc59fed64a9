import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { withTimeout } from '../../async/timeout.ts'
import { type Provider, SigningMarketplace } from '../../domain/integrations/provider.ts'
import { invalid, Problem, unavailable } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/zod-app.ts'
import { faultOf, inOneLine, withBuyer } from '../../payments/acceptable.ts'
import type { Ports } from '../../ports.ts'
import type { ReceivedOutcome } from '../../sales/outcome.ts'
import type { SalePorts } from '../../sales/ports.ts'
import { receiveNotification } from '../../sales/receive.ts'
import {
  type Incoming,
  type Trusted,
  trustGumroad,
  trustSigned,
  trustStripe,
} from '../../sales/verify-notification.ts'
import { recordIgnoredTest } from '../../usage/ignored-tests.ts'

const received = z.object({
  received: z.literal(true),
  duplicate: z.literal(true).optional().meta({ description: 'The sale already had its license' }),
  parked: z
    .literal(true)
    .optional()
    .meta({ description: 'The sale is parked until it is known what to issue' }),
})
const issued = received.extend({
  license_id: z.string().optional().meta({ example: 'lic_01m7y9kcqbebn8xnyp0ja0sn44' }),
  license_key: z.string().optional().meta({
    example: 'ACME-KHFGN-MH4R5-QM12N-WQVSA-AQJ41-K',
    description: 'The raw key, shown only in this response',
  }),
})

const common = { tags: ['Notifications'], security: [] }
/** A provider on a slow connection may take its time, as long as bytes arrive. */
const config = { slowBody: true }
const nothing = { description: 'The notification has no effect' }
const tenantPath = z.object({ tenantId: z.string().meta({ example: 'acme' }) })

/**
 * The webhook endpoints of the payment providers. Bodies are taken as raw bytes, because the signatures cover
 * those.
 */
export function notificationRoutes(app: ZodApp, services: SalePorts & Ports<'providers'>): void {
  void app.register(async (bare: ZodApp) => {
    bare.removeAllContentTypeParsers()
    bare.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    stripeRoute(bare, services)
    gumroadRoutes(bare, services)
    for (const provider of SigningMarketplace.options) signedRoute(bare, services, provider)
  })
}

function stripeRoute(app: ZodApp, services: SalePorts & Ports<'providers'>): void {
  app.post(
    '/api/stripe/webhook/connect',
    {
      config,
      schema: {
        ...common,
        security: [{ stripeSignature: [] }],
        operationId: 'receiveStripeEvent',
        summary: 'Receive an event of a connected account from Stripe',
        description:
          'Authenticated by the header `Stripe-Signature`. The event names the account, and so the tenant.',
        response: {
          200: answer('Accepted', received),
          204: nothing,
          ...errorsWith(errorBody, 400, 401, 403),
        },
      },
    },
    async (request, reply) => {
      const secret = services.providers.cardWebhookSecret
      if (secret === undefined)
        throw unavailable('Stripe notifications are not set up on this installation', 60)
      const trusting = async () => {
        const trusted = await trustStripe(services, secret, incomingOf(request))
        if (trusted === 'untrusted') throw new Problem(401, 'unauthorized', 'Invalid signature')
        if (!trusted) throw invalid('Invalid request')
        return trusted
      }
      return acknowledge(reply, await take(services, 'stripe', trusting, request))
    },
  )
}

function gumroadRoutes(app: ZodApp, services: SalePorts): void {
  const query = z.object({
    token: z.string().optional().meta({ description: 'The token of the ping URL' }),
  })
  const shown = { ...common, params: tenantPath, querystring: query }
  app.post(
    '/webhooks/gumroad/:tenantId',
    {
      config,
      // Every malformed token gets the same response.
      attachValidation: true,
      schema: {
        ...shown,
        operationId: 'receiveGumroadPing',
        summary: 'Receive a sale from Gumroad',
        response: {
          200: answer('Issued, or already known', issued),
          204: nothing,
          ...errorsWith(errorBody, 400, 403),
        },
      },
    },
    async (request, reply) => {
      const trusting = () => gumroadTrusts(services, 'ping', request)
      const outcome = await take(services, 'gumroad', trusting, request)
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
      attachValidation: true,
      schema: {
        ...shown,
        operationId: 'receiveGumroadResource',
        summary:
          'Receive refunds, disputes and ended subscriptions from Gumroad, which sends them to URLs subscribed through its API',
        response: { 200: answer('Accepted', received), 204: nothing, ...errorsWith(errorBody, 400, 403) },
      },
    },
    async (request, reply) => {
      const trusting = () => gumroadTrusts(services, 'resource', request)
      return acknowledge(reply, await take(services, 'gumroad', trusting, request))
    },
  )
}

async function gumroadTrusts(
  services: Ports<'db' | 'now'>,
  kind: 'ping' | 'resource',
  request: FastifyRequest,
): Promise<Trusted> {
  const { token } = Object(request.query) as { token?: unknown }
  const address = { kind, token: typeof token === 'string' ? token : '' }
  const trusted = await trustGumroad(services, tenantIn(request), address, incomingOf(request))
  if (!trusted) throw invalid('Invalid request')
  return trusted
}

const operations: Record<SigningMarketplace, { operationId: string; summary: string; vouches: string }> = {
  lemonsqueezy: {
    operationId: 'receiveLemonSqueezyEvent',
    summary: 'Receive an event from Lemon Squeezy',
    vouches: 'Authenticated by the header `X-Signature`',
  },
  paddle: {
    operationId: 'receivePaddleNotification',
    summary: 'Receive a notification from Paddle',
    vouches: 'Authenticated by the header `Paddle-Signature`',
  },
  polar: {
    operationId: 'receivePolarEvent',
    summary: 'Receive an event from Polar',
    vouches: 'Authenticated by the headers of Standard Webhooks',
  },
}

function signedRoute(
  app: ZodApp,
  services: SalePorts & Ports<'providers'>,
  provider: SigningMarketplace,
): void {
  const { operationId, summary, vouches } = operations[provider]
  app.post(
    `/webhooks/${provider}/:tenantId`,
    {
      config,
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
      const trusting = async () => {
        const trusted = await trustSigned(services, tenantId, provider, incomingOf(request))
        if (!trusted) throw invalid('Invalid request')
        return trusted
      }
      return acknowledge(reply, await take(services, provider, trusting, request))
    },
  )
}

const tenantIn = ({ params }: FastifyRequest): string => {
  const { tenantId } = params as { tenantId?: unknown }
  return typeof tenantId === 'string' ? tenantId : ''
}

function incomingOf({ body, headers }: FastifyRequest): Incoming {
  const header = (name: string) => {
    const value = headers[name]
    return typeof value === 'string' ? value : ''
  }
  return { raw: Buffer.isBuffer(body) ? body : Buffer.alloc(0), header }
}

/** The least patient provider gives up after five seconds. After a 503 a provider retries. */
const answerWithinMs = 4000

/**
 * Answers in time even while a store is down. The work may still complete; then the repeated notification has no
 * effect.
 * @returns undefined for notifications that have no effect
 */
async function take(
  services: SalePorts,
  provider: Provider,
  trusting: () => Promise<Trusted>,
  request: FastifyRequest,
): Promise<ReceivedOutcome | undefined> {
  const work = trusting().then((trusted) => takeIn(services, provider, trusted, request))
  return withTimeout(work, answerWithinMs)
}

async function takeIn(
  services: SalePorts,
  provider: Provider,
  { tenantId, translated, naming }: Trusted,
  request: FastifyRequest,
): Promise<ReceivedOutcome | undefined> {
  switch (translated.type) {
    case 'ignored':
      if (translated.testId !== undefined) await noteTest(services, tenantId, provider, translated.testId)
      return undefined
    case 'incomplete':
      throw invalid('Missing required fields')
    default: {
      const fault = faultOf(translated)
      if (fault !== undefined) throw invalid(`Unusable notification: ${fault}`)
      const raw = incomingOf(request).raw.toString('utf8')
      const origin = { requestId: request.id, actor: `provider:${provider}` }
      if (naming) await receiveNotification(services, tenantId, naming, raw, origin)
      return receiveNotification(services, tenantId, withBuyer(inOneLine(translated)), raw, origin)
    }
  }
}

/** Only Gumroad marks tests that have no effect, whatever the test mode of the tenant. */
const noteTest = (
  { db, now }: Ports<'db' | 'now'>,
  tenantId: string,
  provider: Provider,
  notificationId: string,
) =>
  recordIgnoredTest(
    db,
    tenantId,
    { provider, notificationId, kind: 'test', reason: 'gumroad_test', detail: null },
    now(),
  )

/** Only Gumroad's response contains the license key: other providers log responses. */
function acknowledge(reply: FastifyReply, outcome: ReceivedOutcome | undefined) {
  if (outcome === undefined || outcome.outcome === 'ignored') return reply.code(204).send()
  return {
    received: true as const,
    ...(outcome.outcome === 'duplicate' && { duplicate: true as const }),
    ...(outcome.outcome === 'parked' && { parked: true as const }),
  }
}

function whyParked({ reason, detail }: Extract<ReceivedOutcome, { outcome: 'parked' }>): string {
  if (reason === 'no_mapping') return `No product mapping for permalink '${detail}'`
  if (reason === 'product_not_found') return `Product '${detail}' not found`
  return `Kept, but not licensed: ${reason.replaceAll('_', ' ')}`
}
