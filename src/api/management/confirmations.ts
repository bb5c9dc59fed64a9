import { z } from 'zod'
import { findConfirmation } from '../../../projections/confirmations/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import { isId } from '../../credentials/id.ts'
import {
  type ConfirmationStatus,
  confirmationStatusAt,
  secondsLeft,
} from '../../domain/confirmations/confirmation.ts'
import { callerIn } from '../../http/authenticate.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/zod-app.ts'
import type { Ports } from '../../ports.ts'

const polled = z
  .object({
    id: z.string(),
    status: z.enum(['pending', 'approved', 'denied', 'expired']).meta({
      description: 'Stays `approved` after it was used',
    }),
    expiresInSeconds: z.int().meta({ description: '0 once it is decided' }),
  })
  .meta({
    id: 'ConfirmationStatus',
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

export function confirmationRoutes(app: ZodApp, services: Ports<'db' | 'now'>): void {
  app.get(
    '/v1/confirmations/:id',
    {
      config: { scope: 'any' },
      schema: {
        operationId: 'getConfirmation',
        tags: ['Confirmations'],
        summary: 'Poll a confirmation of this token',
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
      const { tenantId, tokenId } = callerIn(request)
      const { id } = request.params
      const entry = isId('cnf', id) ? await findConfirmation(services.db, tenantId, id) : undefined
      if (entry?.confirmation.tokenId !== tokenId) throw notFound('confirmation')
      const now = momentOf(services)
      const status = publicStatus[confirmationStatusAt(entry.confirmation, now)]
      return reply
        .header('retry-after', '2')
        .send({ id, status, expiresInSeconds: secondsLeft(entry.confirmation, now) })
    },
  )
}
