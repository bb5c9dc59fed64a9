import { z } from 'zod'
import { listUnmatched, type UnmatchedFact } from '../../../../projections/sales/unmatched.ts'
import { Provider } from '../../../domain/integrations/provider.ts'
import { callerIn } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { answer, errors, momentOut, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { answerPage } from '../page.ts'

const unmatchedOut = z
  .object({
    provider: Provider,
    kind: z
      .enum(['refund', 'dispute_opened', 'dispute_lost', 'dispute_won'])
      .meta({ description: 'What the provider reported', example: 'refund' }),
    names: z.string().meta({
      description: 'The id at the provider that belongs to no sale',
      example: 'payment:pi_3QwGk2LkdIwHu7ix',
    }),
    amount: z.int().nullable().meta({
      description: 'The amount in minor units; null where the provider names none',
      example: 4900,
    }),
    currency: z.string().nullable(),
    full: z.boolean().nullable().meta({
      description: 'Of a refund: whether the whole payment was refunded; null for a dispute',
      example: true,
    }),
    notificationId: z.string(),
    occurredAt: momentOut,
    receivedAt: momentOut,
  })
  .meta({ id: 'UnmatchedPayment', description: 'A refund or a dispute that belongs to no known sale' })

const kinds = {
  SaleRefunded: 'refund',
  SaleDisputed: 'dispute_opened',
  DisputeLost: 'dispute_lost',
  DisputeWon: 'dispute_won',
} as const

function viewOf({ provider, link, fact, receivedAt }: UnmatchedFact): z.infer<typeof unmatchedOut> {
  const { amount, currency, notificationId, occurredAt } = fact.data
  return {
    provider,
    kind: kinds[fact.type],
    names: link,
    amount,
    currency,
    full: fact.type === 'SaleRefunded' ? fact.data.full : null,
    notificationId,
    occurredAt,
    receivedAt,
  }
}

/** A tenant's refunds and disputes that belong to no known sale. */
export function unmatchedRoute(app: ZodApp, ports: Ports<'db'>, cursors: Cursors): void {
  app.get(
    '/v1/sales/unmatched',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listUnmatchedPayments',
        tags: ['Sales'],
        summary: 'List the refunds and disputes that belong to no known sale, newest first',
        description:
          'An entry disappears when its sale arrives. One that stays is of a purchase that was never reported: revoke the ' +
          'license by hand if there is one.',
        querystring: z.strictObject(pageQuery),
        response: {
          200: answer('A page of refunds and disputes', pageOf(unmatchedOut)),
          ...errors(400, 403),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return answerPage(
        cursors,
        [tenantId, 'unmatched payments'],
        request.query,
        (keyset) => listUnmatched(ports.db, tenantId, keyset),
        (facts) => facts.map(viewOf),
      )
    },
  )
}
