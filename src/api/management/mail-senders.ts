import { z } from 'zod'
import { findWordings } from '../../../projections/wordings.ts'
import { connectMailSender, disconnectMailSender } from '../../commands/mail-senders.ts'
import { MailSender, mailSenders, senderKeyProblem } from '../../domain/mails/senders.ts'
import type { ConnectedSender } from '../../domain/mails/wordings.ts'
import { callerIn } from '../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../http/idempotency.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors, momentOut } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { bounceUrlOf } from '../../mail/bounces/address.ts'
import type { Ports } from '../../ports.ts'

const senderField = MailSender.meta({ description: 'The service that sends your mails', example: 'postmark' })

const keys = Object.entries(mailSenders)
  .map(([sender, { key }]) => `\`${sender}\`: ${key ? key.label : 'none'}`)
  .join('; ')

const senderIn = z
  .strictObject({
    sender: senderField,
    key: z
      .string()
      .max(500)
      .nullable()
      .default(null)
      .meta({
        description: `What its notifications are verified with. ${keys}`,
        example: null,
      }),
  })
  .superRefine(({ sender, key }, context) => {
    const message = senderKeyProblem(sender, key)
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['key'], message })
  })
  .meta({ example: { sender: 'postmark' } })

const senderOut = z
  .object({ sender: senderField, connectedAt: momentOut })
  .meta({ id: 'MailSender', description: 'The service that tells of bounces' })

const connectedOut = z.object({
  sender: senderOut,
  address: z.string().meta({
    description: 'Where the service sends its notifications, with a secret; shown only in this response',
    example: 'https://licenses.acme.example/webhooks/mail/acme?token=…',
  }),
})

const view = ({ sender, connectedAt }: ConnectedSender) => ({ sender, connectedAt })

type SenderPorts = Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'secrets'>

/** The service that sends the mails of the tenant and tells of bounces. */
export function mailSenderRoutes(app: ZodApp, ports: SenderPorts, baseUrl: string): void {
  app.get(
    '/v1/mail-sender',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getMailSender',
        tags: ['Mails'],
        summary: 'Read which service tells of bounces',
        description: 'Its address and its key are not shown again; connect it again for a new address.',
        response: {
          200: answer(
            'The service',
            z.object({ sender: senderOut.nullable().meta({ description: 'The service; null for none' }) }),
          ),
          ...errors(403),
        },
      },
    },
    async (request) => {
      const { sender } = await findWordings(ports.db, callerIn(request).tenantId)
      return { sender: sender && view(sender) }
    },
  )
  app.put(
    '/v1/mail-sender',
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: 'connectMailSender',
        tags: ['Mails'],
        summary: 'Connect the service that sends your mails, so that bounces are shown',
        description:
          'The answer has an address with a secret: set it as the webhook for bounces and complaints there. The address before it stops ' +
          'working. Mails are sent through the mail server of the installation as before.',
        body: senderIn,
        response: { 200: answer('The service, and its address', connectedOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const own = runPorts(request, ports)
      const { connected, token } = await connectMailSender(
        own,
        tenantId,
        request.body,
        own.newId('req'),
        runOriginOf(request),
      )
      if (!connected) throw notFound('mail sender')
      return { sender: view(connected), address: bounceUrlOf(baseUrl, tenantId, token) }
    },
  )
  app.delete(
    '/v1/mail-sender',
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: 'disconnectMailSender',
        tags: ['Mails'],
        summary: 'Disconnect the service; bounces are no longer recorded',
        description:
          'Its address stops working. Recorded bounces stay. Without a connection, this changes nothing.',
        response: {
          200: answer(
            'It is disconnected',
            z.object({
              disconnected: z.literal(true).meta({ description: 'Always true: it is disconnected' }),
            }),
          ),
          ...errors(403),
        },
      },
    },
    async (request) => {
      await disconnectMailSender(ports, callerIn(request).tenantId, runOriginOf(request))
      return { disconnected: true as const }
    },
  )
}
