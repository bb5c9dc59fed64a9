import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { z } from 'zod'
import type { WebhookEventName } from '../../domain/webhooks/events.ts'
import { payloads } from '../../webhooks/payloads.ts'

type Description = NonNullable<FastifyDynamicSwaggerOptions['openapi']>
type Webhooks = NonNullable<Extract<Description, { webhooks?: unknown }>['webhooks']>

const whenSent: Record<WebhookEventName, string> = {
  'license.created': 'A license was minted for a paid checkout or a marketplace sale',
  'license.activated': 'A device was activated',
  'license.deactivated': 'A device was deactivated',
  'license.expired': 'A license expired or fell back',
  'license.renewed': 'A license was renewed',
  'license.updated':
    "A license's key type, quantity or expiry changed other than by a renewal: its subscription was changed, paused or " +
    'ended, or the payment of a period was refunded',
  'license.refunded':
    'A payment was refunded in full or lost in a dispute. If no payment is left, `license.revoked` follows',
  'license.suspended': 'A license was suspended: it is not valid until it is resumed',
  'license.resumed': 'A suspended license was resumed',
  'license.reinstated': 'A payment is valid again, for example after a dispute was won',
  'license.revoked': 'A license was revoked',
  'license.reminted': 'A license was reminted',
}

const header = (name: string, description: string) => ({
  in: 'header',
  name,
  required: true,
  description,
  schema: { type: 'string' },
})

const headers = [
  header(
    'X-Service-Signature',
    't=<unix>,v1=<hex HMAC-SHA256 of "<t>.<body>">; two v1 while a secret rotates',
  ),
  header('webhook-id', 'The id of the payload, as in Standard Webhooks'),
  header('webhook-timestamp', 'Unix seconds of this attempt'),
  header(
    'webhook-signature',
    'v1,<base64>: the Standard Webhooks signature, made with the bytes of the same secret',
  ),
]

/** The requests sent to the URL of `PUT /v1/webhook`, as the `webhooks` of an OpenAPI 3.1 document. */
export function describedWebhooks(): Webhooks {
  const webhooks = Object.fromEntries(
    payloads.map(({ event, payload }) => {
      const { $schema: _, ...schema } = z.toJSONSchema(payload, { io: 'input' })
      return [
        event,
        {
          post: {
            operationId: operationIdOf(event),
            tags: ['Webhook'],
            summary: whenSent[event],
            security: [],
            parameters: headers,
            requestBody: { required: true, content: { 'application/json': { schema } } },
            responses: {
              '2XX': { description: 'Accepted. Any other response, or none within 15 s, is retried' },
            },
          },
        },
      ]
    }),
  )
  // Both types describe JSON Schema, but TypeScript cannot match them.
  return webhooks as Webhooks
}

/** `license.created` as `onLicenseCreated`. */
const operationIdOf = (event: string): string =>
  `on${event
    .split('.')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')}`
