import { z } from 'zod'
import { findDelivery, listDeliveries } from '../../../../projections/deliveries/queries.ts'
import { askRedelivery, eventIdOf, findWaitedFor } from '../../../commands/deliveries/deliveries.ts'
import { isId } from '../../../credentials/id.ts'
import type { KnownDelivery } from '../../../domain/deliveries/delivery.ts'
import { DeliveryError } from '../../../domain/deliveries/events.ts'
import { firstEndpointId } from '../../../domain/webhooks/endpoint.ts'
import { WebhookEventName } from '../../../domain/webhooks/events.ts'
import { callerIn } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { runOriginOf } from '../../../http/idempotency.ts'
import { notFound } from '../../../http/problem.ts'
import { answer, errors, momentOut, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/zod-app.ts'
import type { Ports } from '../../../ports.ts'
import { shownPayload } from '../../../webhooks/public-events.ts'
import { answerPage } from '../page.ts'

const Status = z.enum(['pending', 'delivered', 'abandoned'])

const attemptOut = z.object({
  attempt: z.int().meta({ description: '1, 2, 3…' }),
  at: momentOut,
  durationMs: z.int().nullable().meta({ description: 'null when `error` is `unknown`' }),
  status: z.int().nullable().meta({ description: 'null when the receiver did not respond' }),
  error: DeliveryError.nullable().meta({
    description:
      'null when it succeeded. `unknown`: the process ended before the response was recorded. The receiver may have ' +
      'got the event, and gets it again under the same id.',
  }),
  excerpt: z.string().nullable().meta({ description: 'The first 1 KiB of the response' }),
  nextAttemptAt: momentOut.nullable(),
})

const deliveryOut = z
  .object({
    id: z.string().meta({ example: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    endpointId: z.string().meta({ description: 'The webhook endpoint that gets it', example: 'first' }),
    eventId: z.string().meta({
      description: '`id` of the payload; the same for every endpoint',
      example: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    event: WebhookEventName,
    licenseId: z.string(),
    sequence: z.int().nullable().meta({
      description:
        '1, 2, 3… within the license; null for a replayed event from before the endpoint wanted it',
    }),
    status: Status,
    attempts: z.array(attemptOut),
    nextAttemptAt: momentOut.nullable().meta({ description: 'null when no attempt will follow' }),
    waitsFor: z
      .string()
      .nullable()
      .meta({
        description:
          'The delivery before it of the same license, while it is pending and the endpoint gets the events of a license ' +
          'in order: no attempt is made until that one is delivered or abandoned. null when it waits for none',
      }),
    createdAt: momentOut,
    endedAt: momentOut.nullable(),
  })
  .meta({ id: 'Delivery' })

const oneDelivery = z.object({ delivery: deliveryOut })
const withPayload = z.object({
  delivery: deliveryOut.extend({
    payload: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The payload, with the license key masked' }),
  }),
})
const onlyId = z.strictObject({ id: z.string() })

export function deliveryRoutes(
  app: ZodApp,
  services: Ports<'db' | 'deriveId' | 'execute' | 'now' | 'subjects'>,
  cursors: Cursors,
): void {
  listRoute(app, services, cursors)
  readRoute(app, services)
  redeliverRoute(app, services)
}

function listRoute(app: ZodApp, services: Ports<'db' | 'deriveId'>, cursors: Cursors): void {
  app.get(
    '/v1/webhook/deliveries',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listDeliveries',
        tags: ['Webhook'],
        summary: 'List deliveries to the webhook endpoints with all attempts, newest first',
        querystring: z.strictObject({
          ...pageQuery,
          status: Status.optional(),
          event: WebhookEventName.optional(),
          endpoint: text(100).optional().meta({ description: 'The id of a webhook endpoint' }),
          license: text(100).optional().meta({ description: 'The id of a license' }),
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
        (keyset) => listDeliveries(services.db, tenantId, filter, keyset),
        (rows) => views(services, rows),
      )
    },
  )
}

function readRoute(app: ZodApp, services: Ports<'db' | 'deriveId' | 'subjects'>): void {
  app.get(
    '/v1/webhook/deliveries/:id',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getDelivery',
        tags: ['Webhook'],
        summary: 'Read a delivery with its payload',
        params: onlyId,
        response: { 200: answer('The delivery', withPayload), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const delivery = await requireDelivery(services, tenantId, request.params.id)
      return {
        delivery: { ...(await view(services, delivery)), payload: await shownPayload(services, delivery) },
      }
    },
  )
}

function redeliverRoute(app: ZodApp, services: Ports<'db' | 'deriveId' | 'execute' | 'now'>): void {
  app.post(
    '/v1/webhook/deliveries/:id/redeliver',
    {
      config: { scope: 'integrations:write' },
      schema: {
        operationId: 'redeliver',
        tags: ['Webhook'],
        summary: 'Redeliver now',
        description:
          'Uses the same id, the current webhook settings and a full set of attempts, and waits for no other delivery. A `license.created` whose delivery ' +
          'succeeded, or was abandoned more than 30 days ago, is sent with `key: null`, since the key is no longer stored.',
        params: onlyId,
        response: { 202: answer('The delivery, due now', oneDelivery), ...errors(400, 403, 404) },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { deliveryId } = await requireDelivery(services, tenantId, request.params.id)
      const delivery = await askRedelivery(services, tenantId, deliveryId, runOriginOf(request))
      return reply.code(202).send({ delivery: await view(services, delivery) })
    },
  )
}

/** Mails are deliveries as well, but not of the webhook: they get 404. */
async function requireDelivery(services: Ports<'db'>, tenantId: string, id: string): Promise<KnownDelivery> {
  const entry = isId('whd', id) ? await findDelivery(services.db, tenantId, id) : undefined
  if (entry?.delivery.channel !== 'webhook') throw notFound('delivery')
  return entry.delivery
}

async function views(
  services: Ports<'db' | 'deriveId'>,
  deliveries: readonly KnownDelivery[],
): Promise<z.infer<typeof deliveryOut>[]> {
  const waitedFor = await findWaitedFor(services, deliveries)
  return deliveries.map((delivery) => viewOf(services, delivery, waitedFor.get(delivery.deliveryId) ?? null))
}

async function view(services: Ports<'db' | 'deriveId'>, delivery: KnownDelivery) {
  const waitedFor = await findWaitedFor(services, [delivery])
  return viewOf(services, delivery, waitedFor.get(delivery.deliveryId) ?? null)
}

function viewOf(
  services: Ports<'deriveId'>,
  delivery: KnownDelivery,
  waitsFor: string | null,
): z.infer<typeof deliveryOut> {
  const { deliveryId: id, licenseId, sequence, status, attempts, nextAttemptAt, endedAt } = delivery
  return {
    id,
    endpointId: delivery.endpointId ?? firstEndpointId,
    eventId: eventIdOf(services, delivery),
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
