import { z } from 'zod'
import { findWebhookEndpoint, listEndpoints } from '../../../projections/webhooks.ts'
import {
  addEndpoint,
  changeEndpoint,
  type EndpointSet,
  removeEndpoint,
  rotateEndpointSecret,
} from '../../commands/webhook-endpoints.ts'
import { Refusal } from '../../domain/refusal.ts'
import { isPlain, notPlain } from '../../domain/values.ts'
import { maxEndpoints, type WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { defaultOrdering, Ordering, WebhookEventName } from '../../domain/webhooks/events.ts'
import type { Ports } from '../../ports.ts'
import { gatedOperation } from '../operation.ts'
import { defaultInWords, hostIn, moved, refuseBadTarget, webhookUrl } from './set-webhook.ts'

const url = webhookUrl.meta({
  description: 'An https URL with a public address',
  example: 'https://hooks.example.com/keyledger',
})
const events = z
  .array(WebhookEventName)
  .min(1)
  .max(100)
  .meta({ description: 'A set', example: ['license.created', 'license.revoked'] })
const description = z
  .string()
  .trim()
  .max(200)
  .refine(isPlain, notPlain)
  .meta({ description: 'Your own words, for example what the endpoint is for', example: 'Fulfillment' })
const ordering = Ordering.meta({
  description:
    '`license`: the events of a license are sent in order, each after the one before it was delivered or abandoned. ' +
    '`none`: as fast as possible, in any order',
  example: 'license',
})

const params = z.strictObject({
  id: z
    .string()
    .meta({ description: 'The id of the webhook endpoint, `first` or `whe_…`', example: 'first' }),
})

const created = z
  .strictObject({
    url,
    events: events.optional().meta({ description: `A set; ${defaultInWords} when absent` }),
    description: description.default(''),
    ordering: ordering.default(defaultOrdering),
  })
  .meta({
    example: { url: 'https://hooks.example.com/keyledger', events: ['license.created', 'license.revoked'] },
  })

const changed = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    description: description.optional(),
    ordering: ordering.optional(),
    paused: z.boolean().optional().meta({ description: 'While true, deliveries to the endpoint wait' }),
  })
  .meta({ example: { paused: true } })

export const addWebhookEndpoint = gatedOperation({
  name: 'webhook-endpoint.add',
  title: 'Add a webhook endpoint',
  method: 'POST',
  path: '/v1/webhook-endpoints',
  scope: 'integrations:write',
  input: z.object({ body: created }),
  async check(ports, tenantId, { body }) {
    const present = await listEndpoints(ports.db, tenantId)
    if (present.length >= maxEndpoints) throw new Refusal('webhook_endpoint_limit')
    await refuseBadTarget(ports, body.url)
  },
  async describe(ports, tenantId, { body }) {
    const present = await listEndpoints(ports.db, tenantId)
    return {
      summary: `Also deliver license events to ${hostIn(body.url)}`,
      target: { host: hostIn(body.url), url: body.url },
      state: { endpoints: present.map(({ endpointId }) => endpointId) },
    }
  },
  run: (ports, tenantId, { body }, { id, origin }): Promise<EndpointSet> =>
    addEndpoint(ports, tenantId, { ...body, events: body.events }, id, origin),
})

export const changeWebhookEndpoint = gatedOperation({
  name: 'webhook-endpoint.change',
  title: 'Change a webhook endpoint',
  method: 'PATCH',
  path: '/v1/webhook-endpoints/{id}',
  scope: 'integrations:write',
  input: z.object({ params, body: changed }),
  async ungated(ports, tenantId, { params: { id }, body }) {
    const { endpoint } = await requireEndpoint(ports, tenantId, id)
    if (body.url !== undefined && body.url !== endpoint.url) return undefined
    // The URL is left out, so that a change of it in the meantime stays.
    const { url: _, ...rest } = body
    return { params: { id }, body: rest }
  },
  async check(ports, tenantId, { params: { id }, body }) {
    await requireEndpoint(ports, tenantId, id)
    if (body.url !== undefined) await refuseBadTarget(ports, body.url)
  },
  async describe(ports, tenantId, { params: { id }, body }) {
    const { endpoint, revision } = await requireEndpoint(ports, tenantId, id)
    const to = body.url ?? endpoint.url
    return {
      summary: `Deliver license events to ${hostIn(to)} instead of ${hostIn(endpoint.url)}`,
      target: { host: hostIn(to), url: to },
      details: moved(endpoint, body.events),
      state: { revision },
    }
  },
  run: (ports, tenantId, { params: { id: endpointId }, body }, { id, origin }): Promise<EndpointSet> =>
    changeEndpoint(ports, tenantId, endpointId, body, id, origin),
})

/** The input of an operation that takes nothing but the endpoint's id, and its check. */
const ofEndpoint = {
  input: z.object({ params }),
  async check(ports: Ports<'db'>, tenantId: string, { params: { id } }: EndpointInput): Promise<void> {
    await requireEndpoint(ports, tenantId, id)
  },
}
type EndpointInput = { params: z.infer<typeof params> }

export const rotateWebhookSecret = gatedOperation({
  name: 'webhook-endpoint.rotate-secret',
  title: "Rotate a webhook endpoint's secret",
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/rotate-secret',
  scope: 'integrations:write',
  ...ofEndpoint,
  async describe(ports, tenantId, { params: { id } }) {
    const { endpoint } = await requireEndpoint(ports, tenantId, id)
    return {
      summary: `Rotate the signing secret of the webhook endpoint at ${hostIn(endpoint.url)}`,
      state: { url: endpoint.url, secret: endpoint.secret.operationId },
    }
  },
  run: (ports, tenantId, { params: { id: endpointId } }, { id, origin }): Promise<EndpointSet> =>
    rotateEndpointSecret(ports, tenantId, endpointId, id, origin),
})

export const deleteWebhookEndpoint = gatedOperation({
  name: 'webhook-endpoint.delete',
  title: 'Delete a webhook endpoint',
  method: 'DELETE',
  path: '/v1/webhook-endpoints/{id}',
  scope: 'integrations:write',
  ...ofEndpoint,
  async describe(ports, tenantId, { params: { id } }) {
    const { endpoint } = await requireEndpoint(ports, tenantId, id)
    return {
      summary: `Stop delivering license events to ${hostIn(endpoint.url)}`,
      state: { url: endpoint.url, createdAt: endpoint.createdAt },
    }
  },
  run: (ports, tenantId, { params: { id: endpointId } }, { id, origin }): Promise<void> =>
    removeEndpoint(ports, tenantId, endpointId, id, origin),
})

/** @throws Refusal `webhook_endpoint_not_found` */
async function requireEndpoint(
  { db }: Ports<'db'>,
  tenantId: string,
  endpointId: string,
): Promise<{ endpoint: WebhookEndpoint; revision: number }> {
  const { endpoint, revision } = await findWebhookEndpoint(db, tenantId, endpointId)
  if (!endpoint) throw new Refusal('webhook_endpoint_not_found')
  return { endpoint, revision }
}
