import { findWebhook } from '../../../../projections/webhooks.ts'
import { setWebhook } from '../../../gate/operations/set-webhook.ts'
import type { ApprovalPorts } from '../../../gate/ports.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { gatedRoute } from '../../../http/gate.ts'
import { answer, errors } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { webhookOut, webhookSetOut, webhookView } from './schemas.ts'

export function webhookRoutes(app: ZodApp, ports: ApprovalPorts): void {
  app.get(
    '/v1/webhook',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getWebhook',
        tags: ['Webhook'],
        summary: 'Read the webhook settings',
        description: 'Those of the first webhook endpoint, which is also `first` in `/v1/webhook-endpoints`.',
        response: { 200: answer('The settings', webhookOut), ...errors(403) },
      },
    },
    async (request) => {
      const { endpoint } = await findWebhook(ports.db, callerIn(request).tenantId)
      return webhookView(endpoint)
    },
  )
  gatedRoute(app, ports, setWebhook, {
    operationId: 'setWebhook',
    tags: ['Webhook'],
    summary: 'Set or remove the webhook',
    description:
      'Only https URLs with public addresses are accepted: neither the host nor an address that it resolves to may be loopback, ' +
      'private, link-local or otherwise special.',
    response: {
      200: answer('The settings, and the signing secret if it is new', webhookSetOut),
      ...errors(422),
    },
    reply: ({ webhook, secret }) => ({
      ...webhookView(webhook),
      ...(secret !== undefined && { secret }),
    }),
  })
}
