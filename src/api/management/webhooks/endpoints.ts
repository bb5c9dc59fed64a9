import { z } from 'zod'
import { findWebhookEndpoint, listEndpoints } from '../../../../projections/webhooks.ts'
import { momentOf } from '../../../commands/origin.ts'
import type { EndpointSet } from '../../../commands/webhook-endpoints.ts'
import { AttemptError } from '../../../domain/deliveries/events.ts'
import { Refusal } from '../../../domain/refusal.ts'
import type { WebhookEndpoint } from '../../../domain/webhooks/endpoint.ts'
import { WebhookEventName } from '../../../domain/webhooks/events.ts'
import {
  addWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
} from '../../../gate/operations/webhook-endpoints.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { answer, errors, pageOf } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { endpointOut, endpointSetOut, endpointView, oneEndpointOut } from './schemas.ts'

type EndpointPorts = ApprovalPorts & Ports<'sendTestEvent'>

const path = '/v1/webhook-endpoints'
const params = z.strictObject({
  id: z
    .string()
    .meta({ description: 'The id of the webhook endpoint, `first` or `whe_…`', example: 'first' }),
})
const publicTargets =
  'Only https URLs with public addresses are accepted: neither the host nor an address that it resolves to may be ' +
  'loopback, private, link-local or otherwise special.'

/** The webhook endpoints of a tenant; `/v1/webhook` is the first of them. */
export function webhookEndpointRoutes(app: ZodApp, ports: EndpointPorts): void {
  readRoutes(app, ports)
  changeRoutes(app, ports)
  testRoute(app, ports)
}

function readRoutes(app: ZodApp, ports: Ports<'db' | 'now'>): void {
  app.get(
    path,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listWebhookEndpoints',
        tags: ['Webhook'],
        summary: 'List the webhook endpoints',
        description:
          'There are at most 10: the first endpoint, then the others by age. They are always on one page, so there is no `cursor`, ' +
          '`limit` or `order`, and `nextCursor` is always null.',
        response: { 200: answer('The endpoints', pageOf(endpointOut)), ...errors(403) },
      },
    },
    async (request) => {
      const endpoints = await listEndpoints(ports.db, callerIn(request).tenantId)
      return { items: endpoints.map((one) => endpointView(one, momentOf(ports))), nextCursor: null }
    },
  )
  app.get(
    `${path}/:id`,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getWebhookEndpoint',
        tags: ['Webhook'],
        summary: 'Read a webhook endpoint',
        description: 'The signing secret is masked. It is shown once, when it is new.',
        params,
        response: { 200: answer('The endpoint', oneEndpointOut), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const endpoint = await requireEndpoint(ports, callerIn(request).tenantId, request.params.id)
      return { endpoint: endpointView(endpoint, momentOf(ports)) }
    },
  )
}

function changeRoutes(app: ZodApp, ports: ApprovalPorts): void {
  const reply = ({ endpoint, secret }: EndpointSet) => ({
    endpoint: endpointView(endpoint, momentOf(ports)),
    ...(secret !== undefined && { secret }),
  })
  gatedRoute(app, ports, addWebhookEndpoint, {
    operationId: 'addWebhookEndpoint',
    tags: ['Webhook'],
    summary: 'Add a webhook endpoint',
    description: `Every endpoint gets every event that it wants, with its own secret, attempts and log. The first endpoint that a tenant ever adds is also that of \`/v1/webhook\`. ${publicTargets}`,
    response: {
      200: answer('The endpoint and its signing secret', endpointSetOut),
      ...errors(409, 422),
    },
    reply,
  })
  gatedRoute(app, ports, changeWebhookEndpoint, {
    operationId: 'changeWebhookEndpoint',
    tags: ['Webhook'],
    summary: 'Change, pause or resume a webhook endpoint; omitted fields keep their value',
    description: `A changed \`url\` needs an approval; pending deliveries then go to the new one. While an endpoint is paused, its deliveries wait, and the keys in them are kept for 30 days. ${publicTargets}`,
    response: { 200: answer('The endpoint', endpointSetOut), ...errors(404, 422) },
    reply,
  })
  gatedRoute(app, ports, rotateWebhookSecret, {
    operationId: 'rotateWebhookSecret',
    tags: ['Webhook'],
    summary: "Rotate a webhook endpoint's signing secret",
    description: 'The former secret also signs for another 24 hours.',
    response: { 200: answer('The endpoint and its new signing secret', endpointSetOut), ...errors(404) },
    reply,
  })
  gatedRoute(app, ports, deleteWebhookEndpoint, {
    operationId: 'deleteWebhookEndpoint',
    tags: ['Webhook'],
    summary: 'Delete a webhook endpoint',
    description: 'Its pending deliveries are abandoned, and its signing secret is destroyed.',
    response: {
      200: answer(
        'The endpoint is deleted',
        z.object({ deleted: z.literal(true).meta({ description: 'Always true: it is deleted' }) }),
      ),
      ...errors(404),
    },
    reply: () => ({ deleted: true }),
  })
}

const testOut = z
  .object({
    id: z.string().meta({
      description: '`webhook-id` and `id` of the payload',
      example: 'whd_test_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    event: WebhookEventName.meta({ description: 'The event that was sent', example: 'license.created' }),
    ok: z.boolean().meta({
      description: 'Whether a delivery with this answer would count as delivered',
      example: true,
    }),
    status: z.int().nullable().meta({
      description: 'The HTTP status of the response; null when the receiver did not respond',
      example: 204,
    }),
    error: AttemptError.nullable().meta({
      description: 'Why it failed; null when it succeeded',
      example: null,
    }),
    durationMs: z.int().meta({ description: 'How long the call took, in milliseconds', example: 84 }),
    excerpt: z.string().nullable().meta({
      description: 'The first 1 KiB of the response; null when the receiver did not respond',
      example: '',
    }),
  })
  .meta({ id: 'WebhookTest', description: 'What a receiver answered to a test event' })

function testRoute(app: ZodApp, ports: Ports<'db' | 'sendTestEvent'>): void {
  app.post(
    `${path}/:id/test`,
    {
      // Each call sends a request and returns its result.
      config: {
        scope: 'integrations:write',
        idempotencyKey: 'ignored',
        noDryRun: 'it changes nothing but to send a test event, whose outcome only the receiver knows',
      },
      schema: {
        operationId: 'testWebhookEndpoint',
        tags: ['Webhook'],
        summary: 'Send a test event to a webhook endpoint, and return what it answers',
        description:
          'The event is signed as every delivery is, and has made-up values. It is marked: `test` is true, `id` begins ' +
          'with `whd_test_`, and the request has the header `X-Service-Test: true`. It is sent once, within 15 seconds, ' +
          'also to a paused endpoint, and is not in the delivery log.',
        params,
        body: z
          .strictObject({
            event: WebhookEventName.optional().meta({
              description: 'The event to send; by default the first that the endpoint gets',
            }),
          })
          .nullish()
          .meta({ example: { event: 'license.created' } }),
        response: {
          200: answer('What the endpoint answered', z.object({ test: testOut })),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const endpoint = await requireEndpoint(ports, tenantId, request.params.id)
      return {
        test: await ports.sendTestEvent(tenantId, endpoint, request.body?.event ?? wanted(endpoint)),
      }
    },
  )
}

/** The event that a test sends when none is named. */
const wanted = ({ events }: WebhookEndpoint): WebhookEventName => events[0] ?? 'license.created'

/** @throws Refusal `webhook_endpoint_not_found` */
async function requireEndpoint(
  { db }: Ports<'db'>,
  tenantId: string,
  endpointId: string,
): Promise<WebhookEndpoint> {
  const { endpoint } = await findWebhookEndpoint(db, tenantId, endpointId)
  if (!endpoint) throw new Refusal('webhook_endpoint_not_found')
  return endpoint
}
