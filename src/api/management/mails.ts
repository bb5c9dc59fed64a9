import { z } from 'zod'
import { listDeliveries } from '../../../projections/deliveries/queries.ts'
import type { KnownDelivery } from '../../domain/deliveries/delivery.ts'
import { DeliveryEventName } from '../../domain/deliveries/events.ts'
import { BounceKind, MailSender } from '../../domain/mails/senders.ts'
import { callerIn } from '../../http/authenticate.ts'
import type { Cursors } from '../../http/cursor.ts'
import { answer, errors, momentOut, pageOf, pageQuery, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { answerPage } from './page.ts'
import { attemptOut, DeliveryStatus } from './webhooks/deliveries.ts'

const kind = BounceKind.meta({
  description:
    '`permanent`: the address takes no mail. `transient`: it did not arrive for now. `complaint`: the customer marked it as spam',
  example: 'permanent',
})

const bounceOut = z
  .object({
    kind,
    sender: MailSender.meta({ description: 'The service that told of it', example: 'postmark' }),
    status: z.string().nullable().meta({
      description: 'The enhanced status code; null where the service gives none',
      example: '5.1.1',
    }),
    at: momentOut,
  })
  .meta({ id: 'MailBounce', description: 'What the sender of a mail told of it after it was accepted' })

const mailOut = z
  .object({
    id: z.string().meta({ description: 'The id of the mail', example: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    event: DeliveryEventName.meta({ description: 'What the mail is about', example: 'license.created' }),
    licenseId: z.string(),
    status: DeliveryStatus,
    attempts: z.array(attemptOut).meta({ description: 'All attempts so far, oldest first' }),
    bounces: z.array(bounceOut).meta({
      description:
        'Bounces and complaints, oldest first; also of a mail that is `delivered`, which its server had accepted',
    }),
    nextAttemptAt: momentOut.nullable(),
    createdAt: momentOut,
    endedAt: momentOut.nullable(),
  })
  .meta({ id: 'Mail', description: 'A mail about a license, to its holder' })

const view = (delivery: KnownDelivery): z.infer<typeof mailOut> => {
  const { deliveryId: id, event, licenseId, status, attempts, bounces, nextAttemptAt, endedAt } = delivery
  return {
    id,
    event,
    licenseId,
    status,
    attempts: [...attempts],
    bounces: bounces.map(({ notificationId: _, ...shown }) => shown),
    nextAttemptAt,
    createdAt: delivery.scheduledAt,
    endedAt,
  }
}

/** The mails about licenses, and what became of them. */
export function mailListRoute(app: ZodApp, ports: Ports<'db'>, cursors: Cursors): void {
  app.get(
    '/v1/mails',
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listMails',
        tags: ['Mails'],
        summary: 'List the mails about licenses with all attempts and bounces, newest first',
        description:
          'Filters may be combined. Neither the text of a mail nor its address is shown. Bounces are recorded while a service is ' +
          'connected that tells of them.',
        querystring: z.strictObject({
          ...pageQuery,
          status: DeliveryStatus.optional().meta({ description: 'Only mails with this status' }),
          bounce: BounceKind.optional().meta({ description: 'Only mails that bounced so, last' }),
          license: text(100).optional().meta({ description: 'Only mails about the license with this id' }),
          customer: text(100)
            .optional()
            .meta({ description: 'Only mails about licenses of the customer with this id' }),
        }),
        response: { 200: answer('A page of mails', pageOf(mailOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { status, bounce, license: licenseId, customer: customerId } = request.query
      const filter = { channel: 'mail', status, bounce, licenseId, customerId } as const
      return answerPage(
        cursors,
        [tenantId, 'mails', status, bounce, licenseId, customerId],
        request.query,
        (keyset) => listDeliveries(ports.db, tenantId, filter, keyset),
        async (rows) => rows.map(view),
      )
    },
  )
}
