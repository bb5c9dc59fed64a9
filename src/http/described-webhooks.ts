import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { z } from 'zod'
import type { WebhookEventName } from '../domain/webhook/events.ts'
import { payloads } from '../webhooks/payloads.ts'

type Description = NonNullable<FastifyDynamicSwaggerOptions['openapi']>
type Webhooks = NonNullable<Extract<Description, { webhooks?: unknown }>['webhooks']>

const whenSent: Record<WebhookEventName, string> = {
  'license.created': 'A paid checkout or a marketplace sale has minted a license',
  'license.activated': 'A device has taken a seat',
  'license.deactivated': 'A device has given its seat back',
  'license.expired': 'A license has expired, or fallen back',
  'license.renewed': 'A license runs longer',
  'license.updated':
    "A license's key type, quantity or end changed, other than by a renewal: its subscription was changed, paused or has " +
    'ended, or a period was taken back',
  'license.refunded':
    'A payment was refunded in full, or lost in a dispute. When nothing that was paid is left, `license.revoked` follows',
  'license.reinstated': 'A payment is valid again, such as after a dispute that was won',
  'license.revoked': 'A license was revoked',
  'license.reminted': 'A license has got a new key',
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
  header('webhook-id', 'The id of the payload, as Standard Webhooks have it'),
  header('webhook-timestamp', 'Unix seconds of this try'),
  header('webhook-signature', "v1,<base64>, as Standard Webhooks sign, with the same secret's bytes"),
]

/** What is sent to the address of `PUT /v1/webhook`, as the `webhooks` of an OpenAPI 3.1 description. */
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
              '2XX': { description: 'Taken. Anything else, or nothing within 15 s, is tried again' },
            },
          },
        },
      ]
    }),
  )
  // Both sides mean JSON Schema, and their types only write it differently.
  return webhooks as Webhooks
}

/** `license.created` as `onLicenseCreated`. */
const operationIdOf = (event: string): string =>
  `on${event
    .split('.')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')}`
