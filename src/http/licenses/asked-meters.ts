import { z } from 'zod'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import type { meterView } from '../../domain/meters/view.ts'
import { amountOut, meterName } from './meters.ts'

/** How a validate asks for meters. */
export const metersIn = z
  .union([z.boolean(), z.array(meterName).min(1).max(20)])
  .optional()
  .meta({
    description: 'true to get how all meters of the license stand, or the ids of those to get',
    example: ['tokens'],
  })

/** What a validate that asks for meters is answered more. */
export const metersOutShape = {
  meters: z
    .array(
      z.object({
        meter: z.string().meta({ description: 'The meter', example: 'tokens' }),
        unit: z.string().meta({ description: 'What is counted', example: 'tokens' }),
        remaining: amountOut.meta({
          description: 'What is left in the period and of the credits, and is not held',
          example: '9998.5',
        }),
        used: amountOut.meta({ description: 'How much was used in the period, in all', example: '1.5' }),
        overage: amountOut.meta({ description: 'How much of `used` is beyond it', example: '0' }),
        resets_at: z.int().nullable().meta({
          description: 'When the period ends, in Unix seconds; null while nothing is known to end it',
          example: 1_796_083_200,
        }),
      }),
    )
    .optional()
    .meta({
      description:
        'The meters that were asked for and that the key type has, as the read model has them or newer. Absent unless asked for, and ' +
        'unless the license is active',
    }),
}

export const metersShown = (views: readonly ReturnType<typeof meterView>[] | undefined) =>
  views === undefined
    ? {}
    : {
        meters: views.map(({ meter, unit, remaining, used, overage, resetsAt }) => ({
          ...{ meter, unit, remaining, used, overage },
          resets_at: resetsAt === null ? null : unixSeconds(resetsAt),
        })),
      }
