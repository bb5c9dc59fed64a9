import { z } from 'zod'
import type { WebhookEndpoint } from '../../../domain/webhooks/endpoint.ts'
import { Ordering, WebhookEventName } from '../../../domain/webhooks/events.ts'
import { momentOut } from '../../../http/schemas.ts'

/** The version of the payloads, sent in each of them. Within a version only new fields are added. */
const payloadVersion = '2026-11-01'

const url = z.string().meta({
  description: 'Where the events are sent',
  example: 'https://hooks.acme.example/keyledger',
})
const events = z.array(WebhookEventName).meta({
  description: 'The events that it gets',
  example: ['license.created', 'license.revoked'],
})
const secret = z.string().meta({ description: 'The signing secret, masked', example: 'whsec_…9fQw' })
const version = z.string().meta({ description: 'The version of the payloads', example: payloadVersion })

const newSecret = z.string().optional().meta({
  description: 'The signing secret if it is new, shown only in this response; absent otherwise',
  example: 'whsec_…',
})

const settings = z
  .object({ url, events, secret, version, updatedAt: momentOut })
  .meta({ id: 'Webhook', description: 'The first webhook endpoint of the tenant' })

export const webhookOut = z.object({
  webhook: settings.nullable().meta({ description: 'The settings; null when no webhook is set' }),
})

export const webhookSetOut = webhookOut.extend({ secret: newSecret })

export const endpointOut = z
  .object({
    id: z.string().meta({ description: '`first` is the endpoint of `/v1/webhook`', example: 'first' }),
    url,
    description: z.string().meta({
      description: 'Your own words, for example what the endpoint is for; empty without any',
      example: 'Fulfillment',
    }),
    events,
    ordering: Ordering.meta({
      description:
        '`license`: the events of a license arrive in order; `none`: as fast as possible, in any order',
      example: 'license',
    }),
    paused: z.boolean().meta({ description: 'While true, its deliveries wait', example: false }),
    pausedAt: momentOut.nullable(),
    secret,
    formerSecretValidUntil: momentOut.nullable().meta({
      description: 'Until when the former secret also signs, after a rotation; null if only one secret signs',
      example: null,
    }),
    version,
    createdAt: momentOut,
    updatedAt: momentOut,
  })
  .meta({ id: 'WebhookEndpoint', description: 'A URL that license events are sent to' })

export const oneEndpointOut = z.object({ endpoint: endpointOut })

export const endpointSetOut = oneEndpointOut.extend({ secret: newSecret })

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
