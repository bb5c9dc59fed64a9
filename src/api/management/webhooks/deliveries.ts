import { z } from 'zod'
import { findDelivery, listDeliveries } from '../../../../projections/deliveries/queries.ts'
import { askRedelivery, eventIdOf, findWaitedFor } from '../../../commands/deliveries.ts'
import { isId } from '../../../credentials/id.ts'
import type { KnownDelivery } from '../../../domain/deliveries/delivery.ts'
import { DeliveryError } from '../../../domain/deliveries/events.ts'
import { firstEndpointId } from '../../../domain/webhooks/endpoint.ts'
import { WebhookEventName } from '../../../domain/webhooks/events.ts'
import { callerIn } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { runOriginOf } from '../../../http/idempotency.ts'
import { notFound } from '../../../http/problem.ts'
import { answer, errors, momentOut, onlyId, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { shownPayload } from '../../../webhooks/public-events.ts'
import { answerPage } from '../page.ts'

/** How far a delivery is. */
export const DeliveryStatus = z.enum(['pending', 'delivered', 'abandoned']).meta({
  description:
    '`pending`: tried again at `nextAttemptAt`. `abandoned`: no attempt succeeded and none follows',
  example: 'delivered',
})

/** An attempt of a delivery. */
export const attemptOut = z.object({
  attempt: z.int().meta({ description: 'The number of the attempt: 1, 2, 3…', example: 1 }),
  at: momentOut,
  durationMs: z.int().nullable().meta({
    description: 'How long it took, in milliseconds; null when `error` is `unknown`',
    example: 84,
  }),
  status: z.int().nullable().meta({
    description: 'The HTTP status of the response; null when the receiver did not respond',
    example: 204,
  }),
  error: DeliveryError.nullable().meta({
    example: null,
    description:
      'Why it failed; null when it succeeded. `unknown`: the process ended before the response was recorded. The receiver may have ' +
      'got the event, and gets it again under the same id.',
  }),
  excerpt: z.string().nullable().meta({
    description: 'The first 1 KiB of the response; null when the receiver did not respond',
    example: '',
  }),
  nextAttemptAt: momentOut.nullable(),
})

const deliveryOut = z
  .object({
    id: z.string().meta({ description: 'The id of the delivery', example: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    endpointId: z.string().meta({ description: 'The webhook endpoint that gets it', example: 'first' }),
    eventId: z.string().meta({
      description: '`id` of the payload; the same for every endpoint',
      example: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    event: WebhookEventName.meta({ description: 'The name of the event', example: 'license.created' }),
    licenseId: z.string(),
    sequence: z.int().nullable().meta({
      example: 1,
      description:
        '1, 2, 3… within the license; null for a replayed event from before the endpoint wanted it',
    }),
    status: DeliveryStatus,
    attempts: z.array(attemptOut).meta({ description: 'All attempts so far, oldest first' }),
    nextAttemptAt: momentOut.nullable().meta({
      description: 'When it is tried again; null when no attempt will follow',
      example: null,
    }),
    waitsFor: z
      .string()
      .nullable()
      .meta({
        description:
          'The delivery before it of the same license, while it is pending and the endpoint gets the events of a license ' +
          'in order: no attempt is made until that one is delivered or abandoned. null when it waits for none',
        example: null,
      }),
    createdAt: momentOut,
    endedAt: momentOut.nullable(),
  })
  .meta({ id: 'Delivery', description: 'An event on its way to one webhook endpoint' })

const oneDelivery = z.object({ delivery: deliveryOut })
const withPayload = z.object({
  delivery: deliveryOut
    .extend({
      payload: z.record(z.string(), z.unknown()).meta({
        description: 'The payload, with the license key masked',
        example: {
          event: 'license.created',
          id: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc',
          created: 1_795_253_400,
          version: '2026-11-01',
          tenant_id: 'acme',
          license_id: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
          product_id: 'editor',
          key_type_id: 'pro',
          customer_email: 'grace@example.com',
          test: false,
          sequence: 1,
          key: 'ACME…HJ6C',
          session_id: 'cs_live_a1b2c3',
        },
      }),
    })
    .meta({ description: 'The delivery with its payload' }),
})

export function deliveryRoutes(
  app: ZodApp,
  ports: Ports<'db' | 'deriveId' | 'execute' | 'now' | 'subjects'>,
  cursors: Cursors,
): void {
  listRoute(app, ports, cursors)
  readRoute(app, ports)
  redeliverRoute(app, ports)
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'deriveId'>, cursors: Cursors): void {
  app.get(
    '/v1/webhook/deliveries',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listDeliveries',
        tags: ['Webhook'],
        summary: 'List deliveries to the webhook endpoints with all attempts, newest first',
        description: 'Filters may be combined. Payloads are left out: read one delivery for its payload.',
        querystring: z.strictObject({
          ...pageQuery,
          status: DeliveryStatus.optional().meta({ description: 'Only deliveries with this status' }),
          event: WebhookEventName.optional().meta({ description: 'Only deliveries of this event' }),
          endpoint: text(100)
            .optional()
            .meta({ description: 'Only deliveries to the webhook endpoint with this id' }),
          license: text(100)
            .optional()
            .meta({ description: 'Only deliveries about the license with this id' }),
        }),
        response: { 200: answer('A page of deliveries', pageOf(deliveryOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { status, event, endpoint: endpointId, license: licenseId } = request.query
      const filter = { channel: 'webhook', status, event, endpointId, licenseId } as const
      return answerPage(
        cursors,
        [tenantId, 'deliveries', status, event, licenseId, endpointId],
        request.query,
        (keyset) => listDeliveries(ports.db, tenantId, filter, keyset),
        (rows) => views(ports, rows),
      )
    },
  )
}

function readRoute(app: ZodApp, ports: Ports<'db' | 'deriveId' | 'subjects'>): void {
  app.get(
    '/v1/webhook/deliveries/:id',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getDelivery',
        tags: ['Webhook'],
        summary: 'Read a delivery with its payload',
        description: 'The payload is shown as it is sent, except that the license key is masked.',
        params: onlyId,
        response: { 200: answer('The delivery', withPayload), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const delivery = await requireDelivery(ports, tenantId, request.params.id)
      return {
        delivery: { ...(await view(ports, delivery)), payload: await shownPayload(ports, delivery) },
      }
    },
  )
}

const due = { delivery: { status: 'pending', nextAttemptAt: '2026-11-24T14:05:12.000Z', endedAt: null } }

function redeliverRoute(app: ZodApp, ports: Ports<'db' | 'deriveId' | 'execute' | 'now'>): void {
  app.post(
    '/v1/webhook/deliveries/:id/redeliver',
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: 'redeliver',
        tags: ['Webhook'],
        summary: 'Redeliver now',
        description:
          'Uses the same id, the current webhook settings and a full set of attempts, and waits for no other delivery. A `license.created` whose delivery ' +
          'succeeded, or was abandoned more than 30 days ago, is sent with `key: null`, since the key is no longer stored.',
        params: onlyId,
        response: { 202: answer('The delivery, due now', oneDelivery, due), ...errors(400, 403, 404) },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { deliveryId } = await requireDelivery(ports, tenantId, request.params.id)
      const delivery = await askRedelivery(ports, tenantId, deliveryId, runOriginOf(request))
      void reply.code(202)
      return { delivery: await view(ports, delivery) }
    },
  )
}

/** Mails are deliveries as well, but not of the webhook: they get 404. */
async function requireDelivery(ports: Ports<'db'>, tenantId: string, id: string): Promise<KnownDelivery> {
  const entry = isId('whd', id) ? await findDelivery(ports.db, tenantId, id) : undefined
  if (entry?.delivery.channel !== 'webhook') throw notFound('delivery')
  return entry.delivery
}

async function views(
  ports: Ports<'db' | 'deriveId'>,
  deliveries: readonly KnownDelivery[],
): Promise<z.infer<typeof deliveryOut>[]> {
  const waitedFor = await findWaitedFor(ports, deliveries)
  return deliveries.map((delivery) => viewOf(ports, delivery, waitedFor.get(delivery.deliveryId) ?? null))
}

async function view(ports: Ports<'db' | 'deriveId'>, delivery: KnownDelivery) {
  const waitedFor = await findWaitedFor(ports, [delivery])
  return viewOf(ports, delivery, waitedFor.get(delivery.deliveryId) ?? null)
}

function viewOf(
  ports: Ports<'deriveId'>,
  delivery: KnownDelivery,
  waitsFor: string | null,
): z.infer<typeof deliveryOut> {
  const { deliveryId: id, licenseId, sequence, status, attempts, nextAttemptAt, endedAt } = delivery
  return {
    id,
    endpointId: delivery.endpointId ?? firstEndpointId,
    eventId: eventIdOf(ports, delivery),
    event: WebhookEventName.parse(delivery.event),
    licenseId,
    sequence,
    status,
    attempts: [...attempts],
    nextAttemptAt,
    waitsFor,
    createdAt: delivery.scheduledAt,
    endedAt,
  }
}
