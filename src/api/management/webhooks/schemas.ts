import { z } from 'zod'
import type { WebhookEndpoint } from '../../../domain/webhooks/endpoint.ts'
import { Ordering, WebhookEventName } from '../../../domain/webhooks/events.ts'
import { momentOut } from '../../../http/schemas.ts'

/** The version of the payloads, sent in each of them. Within a version only new fields are added. */
const payloadVersion = '2026-11-01'

const settings = z
  .object({
    url: z.string(),
    events: z.array(WebhookEventName),
    secret: z.string().meta({ description: 'The signing secret, masked', example: 'whsec_…9fQw' }),
    version: z.string().meta({ description: 'The version of the payloads', example: payloadVersion }),
    updatedAt: momentOut,
  })
  .meta({ id: 'Webhook' })

export const webhookOut = z.object({
  webhook: settings.nullable().meta({ description: 'null when no webhook is set' }),
})

export const webhookSetOut = webhookOut.extend({
  secret: z.string().optional().meta({
    description: 'The signing secret if it is new; shown only in this response',
  }),
})

export const endpointOut = z
  .object({
    id: z.string().meta({ description: '`first` is the endpoint of `/v1/webhook`', example: 'first' }),
    url: z.string(),
    description: z.string().meta({ example: 'Fulfillment' }),
    events: z.array(WebhookEventName),
    ordering: Ordering.meta({
      description:
        '`license`: the events of a license arrive in order; `none`: as fast as possible, in any order',
    }),
    paused: z.boolean().meta({ description: 'While true, its deliveries wait' }),
    pausedAt: momentOut.nullable(),
    secret: z.string().meta({ description: 'The signing secret, masked', example: 'whsec_…9fQw' }),
    formerSecretValidUntil: momentOut
      .nullable()
      .meta({ description: 'Until when the former secret also signs, after a rotation' }),
    version: z.string().meta({ description: 'The version of the payloads', example: payloadVersion }),
    createdAt: momentOut,
    updatedAt: momentOut,
  })
  .meta({ id: 'WebhookEndpoint' })

export const oneEndpointOut = z.object({ endpoint: endpointOut })

export const endpointSetOut = oneEndpointOut.extend({
  secret: z.string().optional().meta({
    description: 'The signing secret if it is new; shown only in this response',
  }),
})

/** The public form of an endpoint at a moment. */
export function endpointView(endpoint: WebhookEndpoint, now: string): z.infer<typeof endpointOut> {
  const {
    endpointId: id,
    url,
    description,
    events,
    ordering,
    pausedAt,
    secret,
    former,
    createdAt,
    updatedAt,
  } = endpoint
  return {
    id,
    url,
    description,
    events: [...events],
    ordering,
    paused: pausedAt !== null,
    pausedAt,
    secret: secret.displaySecret,
    formerSecretValidUntil: former !== null && former.validUntil > now ? former.validUntil : null,
    version: payloadVersion,
    createdAt,
    updatedAt,
  }
}

/** The public form of the webhook settings. */
export function webhookView(endpoint: WebhookEndpoint | null): z.infer<typeof webhookOut> {
  if (endpoint === null) return { webhook: null }
  const { url, events, secret, updatedAt } = endpoint
  return {
    webhook: { url, events: [...events], secret: secret.displaySecret, version: payloadVersion, updatedAt },
  }
}
