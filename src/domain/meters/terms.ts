import { z } from 'zod'
import { Slug } from '../values.ts'
import { AmountText } from './amount.ts'
import { periodKinds } from './period.ts'

/** What a key type allows of something that is metered. */
export const MeterTerms = z
  .strictObject({
    meter: Slug.meta({ description: 'The id of the meter, such as of API calls', example: 'api-calls' }),
    unit: z
      .string()
      .min(1)
      .max(40)
      .meta({ description: 'What is counted, as people read it', example: 'calls' }),
    included: AmountText.meta({
      description: 'How much each period includes, as a decimal number',
      example: '10000',
    }),
    period: z.enum(periodKinds).meta({
      description:
        'When counting begins anew: each `day`, `week` (from Monday) or `month` in UTC; with each `purchase`, which renewals ' +
        'are too; or never within the `license`',
      example: 'month',
    }),
    overage: z.enum(['block', 'allow']).meta({
      description:
        'What happens to uses beyond what is included and the credits: `block` refuses them, `allow` counts them',
      example: 'block',
    }),
    overageLimit: AmountText.nullable().default(null).meta({
      description:
        'How much more is counted in a period at most; null for any amount. Only where it is not blocked',
      example: '5000',
    }),
    rollover: z.boolean().default(false).meta({
      description:
        'Whether what a period includes and was not used is there in the next one, and only in that',
      example: false,
    }),
  })
  .refine(({ overage, overageLimit }) => overage !== 'block' || overageLimit === null, {
    path: ['overageLimit'],
    message: 'must be left out where overage is blocked',
  })
  .refine(({ period, rollover }) => !rollover || period !== 'license', {
    path: ['rollover'],
    message: 'needs a period after which another one begins',
  })
export type MeterTerms = z.infer<typeof MeterTerms>

/** The meters of a key type; each name is there once. */
export const MetersOfKeyType = z
  .array(MeterTerms)
  .max(20)
  .refine(
    (meters) => new Set(meters.map(({ meter }) => meter)).size === meters.length,
    'must name each meter once',
  )
