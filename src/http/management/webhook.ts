import { findWebhook } from '../../../projections/webhooks/queries.ts'
import type { Services } from '../../commands/services.ts'
import { setWebhook } from '../../gate/operations/set-webhook.ts'
import { callerIn } from '../authenticate.ts'
import { gatedRoute } from '../gate.ts'
import { answer, errors } from '../schemas.ts'
import type { ZodApp } from '../zod-app.ts'
import { webhookOut, webhookSetOut, webhookView } from './webhook-schemas.ts'

export function webhookRoutes(app: ZodApp, services: Services): void {
  app.get(
    '/v1/webhook',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getWebhook',
        tags: ['Webhook'],
        summary: 'Read where license events are delivered',
        response: { 200: answer('The settings', webhookOut), ...errors(403) },
      },
    },
    async (request) => {
      const { endpoint } = await findWebhook(services.db, callerIn(request).tenantId)
      return webhookView(endpoint)
    },
  )
  gatedRoute(app, services, setWebhook, {
    operationId: 'setWebhook',
    tags: ['Webhook'],
    summary: 'Set where license events are delivered, or end deliveries',
    description:
      'Only https on a public address is taken: neither the URL nor what its name resolves to may be a loopback, ' +
      'private, link-local or otherwise special address.',
    response: {
      200: answer('The settings, and the signing secret when it is new', webhookSetOut),
      ...errors(422),
    },
    reply: ({ webhook, secret }) => ({
      ...webhookView(webhook),
      ...(secret !== undefined && { secret }),
    }),
  })
}
