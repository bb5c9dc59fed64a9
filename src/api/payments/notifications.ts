import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { withTimeout } from '../../async/timeout.ts'
import { isId } from '../../credentials/id.ts'
import { type Provider, SigningMarketplace } from '../../domain/integrations/provider.ts'
import { invalid, Problem, unavailable } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import { paymentProviders } from '../../payments/registry.ts'
import { faultOf, inOneLine, withBuyer } from '../../payments/translated.ts'
import type { Ports } from '../../ports.ts'
import type { ReceivedOutcome } from '../../sales/advance.ts'
import { receiveNotification, type SalePorts } from '../../sales/receive.ts'
import {
  type VerifiedNotification,
  verifyGumroadForm,
  verifyOwnStripeEvent,
  verifySigned,
  verifyStripeEvent,
} from '../../sales/verify.ts'
import { recordRefused, recordVerified } from '../../usage/arrivals.ts'
import { recordIgnoredTest } from '../../usage/ignored-tests.ts'

const common = { tags: ['Notifications'], security: [] }

/**
 * A provider on a slow connection may take its time, as long as bytes arrive. No sale is refused because of what a vendor or a
 * provider has added to the address.
 */
const config = {
  slowBody: true,
  foreignQuery: 'always',
  repeatable: true,
  noDryRun: 'a notification is sent by a payment provider',
} as const

/** A subscription of many items is long; the signature is checked before anything is built of the body. */
const bodyLimit = 1_048_576

const tenantPath = z.object({ tenantId: z.string() })

const received = z.object({
  received: z.literal(true),
  duplicate: z
    .literal(true)
    .optional()
    .meta({ description: 'The sale already had its license or credit; absent otherwise' }),
  parked: z
    .literal(true)
    .optional()
    .meta({ description: 'The sale is parked until it is known what to issue; absent otherwise' }),
})

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

const nothing = { description: 'The notification has no effect' }

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

/** One address for all accounts that are connected through the platform, and one for each tenant's own account. */
function stripeRoutes(app: ZodApp, ports: SalePorts & Ports<'providers'>): void {
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
      return acknowledge(reply, await verifyAndReceive(ports, 'stripe', verify, request))
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
      return acknowledge(reply, await verifyAndReceive(ports, 'stripe', verify, request))
    },
  )
}

const described = () => ({
  ...common,
  security: [{ stripeSignature: [] }],
  response: { 200: answer('Accepted', received), 204: nothing, ...errorsWith(errorBody, 400, 401, 403, 422) },
})

const wrongSignature = () => new Problem(401, 'unauthorized', 'Invalid signature')

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
      const outcome = await verifyAndReceive(ports, 'gumroad', verify, request)
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
      return acknowledge(reply, await verifyAndReceive(ports, 'gumroad', verify, request))
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

function whyParked({ reason, detail }: Extract<ReceivedOutcome, { outcome: 'parked' }>): string {
  if (reason === 'no_mapping') return `No product mapping for permalink '${detail}'`
  if (reason === 'product_not_found') return `Product '${detail}' not found`
  return `Kept, but not licensed: ${reason.replaceAll('_', ' ')}`
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
      return acknowledge(reply, await verifyAndReceive(ports, provider, verify, request))
    },
  )
}

/** The least patient provider gives up after five seconds. After a 503 a provider retries. */
const answerWithinMs = 4000

/**
 * Answers in time even while a store is down. The work may still complete; then the repeated notification has no
 * effect.
 * @returns undefined for notifications that have no effect
 */
async function verifyAndReceive(
  ports: SalePorts,
  provider: Provider,
  verify: () => Promise<VerifiedNotification>,
  request: FastifyRequest,
): Promise<ReceivedOutcome | undefined> {
  const work = verify().then(async (verified) => {
    await recordArrival(ports, provider, verified)
    return receiveVerified(ports, provider, verified, request)
  })
  return withTimeout(work, answerWithinMs)
}

/** For the member who sets the provider up. Our own test purchases are no notifications of the provider. */
async function recordArrival(
  { db, now }: Ports<'db' | 'now'>,
  provider: Provider,
  { tenantId, translated }: VerifiedNotification,
): Promise<void> {
  const isOwnTest = translated.type === 'sold' && isId('tp', translated.saleId)
  if (!isOwnTest) await recordVerified(db, tenantId, provider, now())
}

/** Checks that the notification can be used, and receives it. */
async function receiveVerified(
  ports: SalePorts,
  provider: Provider,
  { tenantId, translated, paymentNamed }: VerifiedNotification,
  request: FastifyRequest,
): Promise<ReceivedOutcome | undefined> {
  switch (translated.type) {
    case 'ignored':
      if (translated.testId !== undefined) await recordTest(ports, tenantId, provider, translated.testId)
      return undefined
    case 'incomplete':
      throw invalid('Missing required fields')
    default: {
      const fault = faultOf(translated)
      if (fault !== undefined) throw invalid(`Unusable notification: ${fault}`)
      const raw = incomingOf(request).raw.toString('utf8')
      const origin = { requestId: request.id, actor: `provider:${provider}` }
      if (paymentNamed) await receiveNotification(ports, tenantId, paymentNamed, raw, origin)
      return receiveNotification(ports, tenantId, withBuyer(inOneLine(translated)), raw, origin)
    }
  }
}

/** Only Gumroad marks tests that have no effect, whatever the test mode of the tenant. */
const recordTest = (
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

/** Records that a notification could not be verified. @throws Problem always, the given one */
async function refuse(
  { db, now }: Ports<'db' | 'now'>,
  tenantId: string,
  provider: Provider,
  problem: Problem,
): Promise<never> {
  await recordRefused(db, tenantId, provider, now())
  throw problem
}

/** Only Gumroad's response contains the license key: other providers log responses. */
function acknowledge(reply: FastifyReply, outcome: ReceivedOutcome | undefined) {
  if (outcome === undefined || outcome.outcome === 'ignored') return reply.code(204).send()
  return {
    received: true as const,
    ...(outcome.outcome === 'duplicate' && { duplicate: true as const }),
    ...(outcome.outcome === 'parked' && { parked: true as const }),
  }
}

const tenantIn = ({ params }: FastifyRequest): string => {
  const { tenantId } = params as { tenantId?: unknown }
  return typeof tenantId === 'string' ? tenantId : ''
}

/** A request with a raw body as a notification. */
export function incomingOf({ body, headers }: FastifyRequest): Incoming {
  const header = (name: string) => {
    const value = headers[name]
    return typeof value === 'string' ? value : ''
  }
  return { raw: Buffer.isBuffer(body) ? body : Buffer.alloc(0), header }
}
