import { z } from 'zod'
import type { PlacedLine } from '../../../../projections/meters/queries.ts'
import { lineKinds } from '../../../domain/meters/lines.ts'
import { periodKinds } from '../../../domain/meters/period.ts'
import { allowancesOut, amountIn, amountOut, meterName } from '../../../http/licenses/meters.ts'
import { inUtc, momentIn, momentOut, text } from '../../../http/schemas.ts'

export const idempotencyKey = text(200).meta({
  description: 'Names this request under its meter: it counts once, however often it is sent',
  example: 'order-1001',
})

export const creditId = z
  .string()
  .meta({ description: 'The id of the credit', example: 'crd_06f5w3k8hx7vq2m4n9t1r0s5zc' })
export const creditEnd = momentOut.nullable().meta({
  description: 'From when on the credit cannot be spent; null for never',
  example: '2027-11-24T00:00:00.000Z',
})

export const meterOut = z
  .object({
    meter: meterName,
    customerId: z.string().nullable().meta({
      description: 'The customer whose licenses share it; null for a meter that is of this license alone',
      example: null,
    }),
    unit: z.string().meta({ description: 'What is counted', example: 'calls' }),
    period: z.enum(periodKinds).meta({ description: 'When counting begins anew', example: 'month' }),
    included: amountOut.meta({ description: 'How much the period includes', example: '10000' }),
    rolledOver: amountOut.meta({ description: 'What is left of the period before', example: '0' }),
    used: amountOut.meta({ description: 'How much was used in the period, in all', example: '12.5' }),
    remaining: amountOut.meta({
      description: 'What is left of all that, and of the credits, and is not held',
      example: '9987.5',
    }),
    overage: amountOut.meta({ description: 'How much of `used` is beyond it', example: '0' }),
    startsAt: momentOut.meta({ description: 'When the period began', example: '2026-11-01T00:00:00.000Z' }),
    resetsAt: momentOut.nullable().meta({
      description: 'When it ends; null while nothing is known to end it',
      example: '2026-12-01T00:00:00.000Z',
    }),
    credits: z
      .array(
        z.object({
          creditId,
          left: amountOut.meta({ description: 'What is left of it', example: '500' }),
          endsAt: creditEnd,
        }),
      )
      .meta({ description: 'The prepaid credits that have not ended, in the order in which they are spent' }),
    holds: z
      .array(
        z.object({
          holdId: z.string().meta({
            description: 'The id of the hold',
            example: 'hld_06f5w3k8hx7vq2m4n9t1r0s5zc.lic_1.calls',
          }),
          amount: amountOut.meta({ description: 'What it keeps free', example: '100' }),
          endsAt: momentOut.meta({
            description: 'When it ends by itself',
            example: '2026-11-24T14:15:12.000Z',
          }),
        }),
      )
      .meta({ description: 'What is kept free for work that is under way' }),
    allowances: allowancesOut,
    forecast: z
      .object({
        perDay: amountOut.meta({ description: 'The mean use of a day in the last seven', example: '100' }),
        usedUpAt: momentOut.nullable().meta({
          description:
            'When all that is included and prepaid is used up at this rate; null when it lasts until the period ends, or for ten years',
          example: '2026-12-21T00:00:00.000Z',
        }),
      })
      .nullable()
      .meta({
        description:
          'When it is used up if the use of the last seven days goes on; null when nothing is left, or the first use was less than a day ' +
          'or nothing was used since',
      }),
  })
  .meta({ id: 'Meter', description: 'How a meter of a license or a customer stands in the present period' })

export const lineOut = z
  .object({
    kind: z.enum(lineKinds).meta({
      description:
        'What was used is the sum of each `use` and `commit`, less each `correction`. `hold`: an amount was kept free; `allowance`: for a device. `credit`: a prepaid ' +
        'amount was added; `withdrawal`: what was left of it was taken back',
      example: 'use',
    }),
    key: z.string().nullable().meta({
      description:
        'The idempotency key of the request; of a commit the id of its hold; null for a withdrawal without one',
      example: 'render-7f3a-0042',
    }),
    amount: amountOut.nullable().meta({
      description: 'How much; of a withdrawal, what was left; null for one from before that was recorded',
      example: '1.5',
    }),
    from: z
      .object({
        rolledOver: amountOut.optional().meta({ description: 'From what the period before left over' }),
        included: amountOut.optional().meta({ description: 'From what the period includes' }),
        credits: z
          .record(z.string(), amountOut)
          .optional()
          .meta({
            description: 'From credits, by their ids',
            example: { crd_06f5w3k8hx7vq2m4n9t1r0s5zc: '1.5' },
          }),
        overage: amountOut.optional().meta({ description: 'Beyond all that' }),
      })
      .nullable()
      .meta({
        description:
          'What it was taken from, or given back to; what nothing was taken from is absent. null for a credit',
      }),
    periodStartsAt: momentOut.nullable().meta({
      description: 'The start of the period that it counts in; null for a credit',
      example: '2026-11-01T00:00:00.000Z',
    }),
    usedAt: momentOut.nullable().meta({
      description: 'When it was used, for a use that was reported late; null otherwise',
      example: null,
    }),
    late: z.boolean().meta({
      description:
        'Whether it counts in a later period than it was used in, since that was closed or had no room',
      example: false,
    }),
    holdId: z
      .string()
      .nullable()
      .meta({ description: 'Of a hold and its commit; null otherwise', example: null }),
    allowanceId: z.string().nullable().meta({
      description: 'Of an allowance, and of a use that was taken from it; null otherwise',
      example: null,
    }),
    creditId: z
      .string()
      .nullable()
      .meta({ description: 'Of a credit and its withdrawal; null otherwise', example: null }),
    licenseId: z.string().nullable().meta({
      description: "Of what a customer's licenses share: the one that used it; null otherwise",
      example: null,
    }),
    note: z.string().nullable().meta({
      description:
        'The order number of a credit, or the reason of a correction or a withdrawal; null otherwise',
      example: null,
    }),
    time: momentOut.meta({ description: 'When it was counted', example: '2026-11-24T14:05:12.000Z' }),
  })
  .meta({ id: 'MeterLine', description: 'A line of what was counted under a meter' })

export function lineView({ kind, period, subjectId, at, ...line }: PlacedLine) {
  const { key, amount, from, usedAt, late, licenseId, note } = line
  const isOfCredit = kind === 'credit' || kind === 'withdrawal'
  return {
    ...{ kind, key, amount, from, usedAt, late, licenseId, note },
    periodStartsAt: period?.startsAt ?? null,
    holdId: kind === 'hold' || kind === 'commit' ? subjectId : null,
    allowanceId: kind === 'allowance' || kind === 'use' ? subjectId : null,
    creditId: isOfCredit ? subjectId : null,
    time: at,
  }
}

export const reason = text(500).meta({
  description: 'Why; it stays with the line',
  example: 'the order was refunded',
})

export const creditIn = z.strictObject({
  meter: meterName,
  amount: amountIn,
  expiresAt: momentIn.transform(inUtc).nullable().default(null).meta({
    description: 'From when on it cannot be spent; null, or absent, for never',
    example: '2027-11-24T00:00:00.000Z',
  }),
  order: text(200).optional().meta({
    description: 'The number of the purchase, as you know it',
    example: '1001',
  }),
  idempotencyKey,
})
