import { z } from 'zod'
import { WebhookEventName } from '../../domain/webhook/events.ts'
import type { WebhookEndpoint } from '../../domain/webhook/webhook.ts'
import { momentOut } from '../schemas.ts'

/** What payloads look like: told in each of them, and grown only by new fields until it changes. */
const payloadVersion = '2026-11-01'

const settings = z
  .object({
    url: z.string(),
    events: z.array(WebhookEventName),
    secret: z.string().meta({ description: 'The signing secret, masked', example: 'whsec_…9fQw' }),
    version: z.string().meta({ description: 'Of the payloads', example: payloadVersion }),
    updatedAt: momentOut,
  })
  .meta({ id: 'Webhook' })

export const webhookOut = z.object({
  webhook: settings.nullable().meta({ description: 'null when nothing is delivered' }),
})

export const webhookSetOut = webhookOut.extend({
  secret: z.string().optional().meta({
    description: 'The signing secret when it is new: this answer is the only place where it is shown',
  }),
})

export const webhookIn = z
  .strictObject({
    url: z
      .string()
      .max(2048)
      .regex(/^[^\s\p{C}]+$/u, 'must be a URL without white space')
      .refine((value) => URL.canParse(value), 'must be a URL')
      .nullable()
      .meta({ description: 'https on a public address; null ends deliveries' }),
    events: z
      .array(WebhookEventName)
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'A set. When absent the present ones stay; all of them at first' }),
    rotateSecret: z
      .boolean()
      .optional()
      .meta({ description: 'The former secret goes on beside the new one for 24 hours' }),
  })
  .meta({ example: { url: 'https://hooks.example.com/keyledger', events: ['license.created'] } })

/** A set, in the order of the names themselves. */
export const eventsFrom = (asked: readonly WebhookEventName[] | undefined): WebhookEventName[] | undefined =>
  asked && WebhookEventName.options.filter((name) => asked.includes(name))

/** Settings in public terms. */
export function webhookView(endpoint: WebhookEndpoint | null): z.infer<typeof webhookOut> {
  if (endpoint === null) return { webhook: null }
  const { url, events, secret, updatedAt } = endpoint
  return {
    webhook: { url, events: [...events], secret: secret.displaySecret, version: payloadVersion, updatedAt },
  }
}
