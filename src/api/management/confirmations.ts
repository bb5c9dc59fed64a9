import { z } from 'zod'
import { findConfirmation } from '../../../projections/confirmations.ts'
import { momentOf } from '../../commands/origin.ts'
import { isId } from '../../credentials/id.ts'
import {
  type ConfirmationStatus,
  confirmationStatusAt,
  type RequestedConfirmation,
  secondsLeft,
} from '../../domain/confirmations/confirmation.ts'
import { effectFor, type ShownEffect } from '../../gate/effects/shown.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { callerIn } from '../../http/authenticate.ts'
import { previewOut, wouldBeRefused } from '../../http/dry-run.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'

const id = z
  .string()
  .meta({ description: 'The id of the confirmation', example: 'cnf_06f5w3k8hx7vq2m4n9t1r0s5zc' })

const polled = z
  .object({
    id,
    status: z.enum(['pending', 'approved', 'denied', 'expired']).meta({
      description: 'What a person decided; stays `approved` after it was used',
      example: 'pending',
    }),
    expiresInSeconds: z
      .int()
      .meta({ description: 'Seconds until it expires without a decision; 0 once it is decided' }),
  })
  .meta({
    id: 'ConfirmationStatus',
    description: 'A confirmation, as far as its requester may know it',
    example: { id: 'cnf_06f5w3k8hx7vq2m4n9t1r0s5zc', status: 'pending', expiresInSeconds: 574 },
  })

const publicStatus = {
  pending: 'pending',
  approved: 'approved',
  denied: 'denied',
  expired: 'expired',
  consumed: 'approved',
  executed: 'approved',
} as const satisfies Record<ConfirmationStatus, string>

const previewed = z
  .object({
    id,
    status: polled.shape.status,
    preview: z
      .object(previewOut)
      .nullable()
      .meta({ description: 'null once the request is over: it is no longer stored' }),
    sinceAsked: z
      .object({
        changed: z.boolean().meta({ description: 'Whether the effect is another one now', example: false }),
        before: z.array(z.string()).meta({ description: 'Sentences that were true only then', example: [] }),
        now: z.array(z.string()).meta({ description: 'Sentences that are true only now', example: [] }),
      })
      .nullable()
      .meta({
        description: 'How the effect differs from when the request was made; null when that is unknown',
      }),
  })
  .meta({ id: 'ConfirmationPreview', description: 'What a request that waits for an approval would change' })

export function confirmationRoutes(app: ZodApp, ports: ApprovalPorts): void {
  pollRoute(app, ports)
  previewRoute(app, ports)
}

/** @throws Problem 404, also for another token's */
async function requireOwn(
  ports: Ports<'db'>,
  { tenantId, tokenId }: { tenantId: string; tokenId: string },
  id: string,
): Promise<RequestedConfirmation> {
  const entry = isId('cnf', id) ? await findConfirmation(ports.db, tenantId, id) : undefined
  if (entry?.confirmation.tokenId !== tokenId) throw notFound('confirmation')
  return entry.confirmation
}

function previewRoute(app: ZodApp, ports: ApprovalPorts): void {
  app.get(
    '/v1/confirmations/:id/preview',
    {
      config: { scope: 'any' },
      schema: {
        operationId: 'previewConfirmation',
        tags: ['Confirmations'],
        summary: 'What a request of this token that waits for an approval would change now',
        description:
          'The same preview as its approver sees in the dashboard. It changes nothing and decides nothing.',
        params: z.strictObject({ id: z.string() }),
        response: { 200: answer('The effect of the request', previewed), ...errors(403, 404) },
      },
    },
    async (request) => {
      const { id } = request.params
      const confirmation = await requireOwn(ports, callerIn(request), id)
      const status = confirmationStatusAt(confirmation, momentOf(ports))
      const shown = await effectFor(ports, confirmation, status)
      return {
        id,
        status: publicStatus[status],
        preview: shown ? previewView(shown) : null,
        sinceAsked: shown?.sinceAsked ? sinceAskedView(shown.sinceAsked) : null,
      }
    },
  )
}

/** A request about something that is gone would be refused with 404. */
function previewView({ effect, refusal, sentences }: ShownEffect): z.infer<z.ZodObject<typeof previewOut>> {
  return { wouldBeRefused: wouldBeRefused(refusal), effect, sentences }
}

const sinceAskedView = ({ before, now }: NonNullable<ShownEffect['sinceAsked']>) => ({
  changed: before.length > 0 || now.length > 0,
  before,
  now,
})

function pollRoute(app: ZodApp, ports: Ports<'db' | 'now'>): void {
  app.get(
    '/v1/confirmations/:id',
    {
      config: { scope: 'any' },
      schema: {
        operationId: 'getConfirmation',
        tags: ['Confirmations'],
        summary: 'Poll a confirmation of this token',
        description:
          'Poll until `status` is no longer `pending`. Once it is `approved`, repeat exactly the same request with the id in ' +
          '`X-Service-Confirmation`. A confirmation of another token is 404.',
        params: z.strictObject({ id: z.string() }),
        response: {
          200: {
            ...answer('The status of the confirmation', polled),
            headers: {
              'Retry-After': { type: 'integer', description: 'Seconds to wait before the next poll' },
            },
          },
          ...errors(403, 404),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const confirmation = await requireOwn(ports, callerIn(request), id)
      const now = momentOf(ports)
      const status = publicStatus[confirmationStatusAt(confirmation, now)]
      return reply
        .header('retry-after', '2')
        .send({ id, status, expiresInSeconds: secondsLeft(confirmation, now) })
    },
  )
}
