import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { z } from 'zod'
import { capitalized } from '../../sentence.ts'
import { payloads, whenSent } from '../../webhooks/payloads.ts'

type Description = NonNullable<FastifyDynamicSwaggerOptions['openapi']>
type Webhooks = NonNullable<Extract<Description, { webhooks?: unknown }>['webhooks']>

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

const howSent =
  'Sent to every webhook endpoint that gets this event, at least once: ignore an `id` that you have already handled. Verify the ' +
  'signature before you read the body, and answer with any 2xx within 15 seconds.'

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
            description: howSent,
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
const operationIdOf = (event: string): string => `on${event.split('.').map(capitalized).join('')}`
