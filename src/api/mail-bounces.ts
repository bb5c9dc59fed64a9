import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { withTimeout } from '../async/timeout.ts'
import { findMailSender, recordBounce } from '../commands/mail-senders.ts'
import { isSecret } from '../credentials/secret.ts'
import { sameDigest, sha256 } from '../credentials/sha256.ts'
import { isSlug } from '../domain/values.ts'
import { Problem } from '../http/problem.ts'
import { answer, errorBody, errorsWith } from '../http/schemas.ts'
import type { ZodApp } from '../http/validation.ts'
import { bouncePath } from '../mail/bounces/address.ts'
import { readReport } from '../mail/bounces/read.ts'
import type { Ports } from '../ports.ts'
import { incomingOf } from './payments/notifications.ts'

type BouncePorts = Ports<'db' | 'execute' | 'now' | 'readFromSns' | 'secrets'>

/** Senders give up after ten seconds or more, and try again. */
const answerWithinMs = 8000

const received = z.object({ received: z.literal(true) })

/** Where the senders of mails tell of bounces and complaints. Bodies are raw bytes, because signatures cover those. */
export function mailBounceRoute(app: ZodApp, ports: BouncePorts): void {
  void app.register(async (bare: ZodApp) => {
    bare.removeAllContentTypeParsers()
    // SNS calls its JSON text/plain.
    bare.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    bare.post(
      `${bouncePath}/:tenantId`,
      {
        config: {
          slowBody: true,
          foreignQuery: 'always',
          repeatable: true,
          noDryRun: 'a notification is sent by the sender of mails',
        },
        bodyLimit: 1_048_576,
        // Every malformed token gets the same response.
        attachValidation: true,
        schema: {
          operationId: 'receiveMailBounces',
          tags: ['Notifications'],
          summary: 'Receive bounces and complaints from the sender of mails',
          description:
            'Authenticated by the `token` in the address, and by the signature of the sender where it signs. What tells of no mail of ' +
            'the tenant, or of something else, is accepted and has no effect.',
          security: [],
          params: z.object({ tenantId: z.string() }),
          querystring: z.object({
            token: z.string().optional().meta({ description: 'The token of the address' }),
          }),
          response: { 200: answer('Accepted', received), ...errorsWith(errorBody, 400, 403) },
        },
      },
      async (request) => {
        await withTimeout(receive(ports, request), answerWithinMs)
        return { received: true as const }
      },
    )
  })
}

/** @throws Problem 403 for a wrong token or signature, as for a tenant without a sender */
async function receive(ports: BouncePorts, request: FastifyRequest): Promise<void> {
  const { tenantId } = request.params as { tenantId: string }
  const { token } = Object(request.query) as { token?: unknown }
  const mayFit = isSlug(tenantId) && typeof token === 'string' && isSecret(token)
  const connected = mayFit ? await findMailSender(ports, tenantId) : undefined
  if (!mayFit || !connected || !sameDigest(sha256(token), sha256(connected.token))) throw refused()
  const { sender, key } = connected
  const verified = await readReport(ports, sender, key ?? '', incomingOf(request))
  if (verified === 'refused') throw refused()
  const origin = { requestId: request.id, actor: 'system:mail-sender' }
  // One after the other: each is recorded once, so a sender that repeats all of them continues where this ended.
  for (const { deliveryId, ...bounce } of verified.reports)
    await recordBounce(ports, tenantId, deliveryId, { sender, ...bounce }, origin)
}

const refused = () =>
  new Problem(
    403,
    'forbidden',
    'The address or the signature is wrong. Connect the sender again, and give it the new address.',
  )
