import { z } from 'zod'
import { WebhookEventName } from '../../../domain/webhooks/events.ts'
import type { WebhookEndpoint } from '../../../domain/webhooks/webhook.ts'
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

/** The public form of the webhook settings. */
export function webhookView(endpoint: WebhookEndpoint | null): z.infer<typeof webhookOut> {
  if (endpoint === null) return { webhook: null }
  const { url, events, secret, updatedAt } = endpoint
  return {
    webhook: { url, events: [...events], secret: secret.displaySecret, version: payloadVersion, updatedAt },
  }
}
