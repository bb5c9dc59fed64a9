import { z } from 'zod'
import { Slug, text } from '../values.ts'
import { AmountText } from './amount.ts'
import { periodKinds } from './period.ts'

/** In percent: what is announced where a key type does not say. */
export const usualThresholds: readonly number[] = [80, 100]

/** What a key type allows of something that is metered. */
export const MeterTerms = z
  .strictObject({
    meter: Slug.meta({ description: 'The id of the meter, such as of API calls', example: 'api-calls' }),
    unit: text(40).meta({ description: 'What is counted, as people read it', example: 'calls' }),
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
    overage: z.enum(['block', 'allow', 'notify']).meta({
      description:
        'What happens to uses beyond what is included and the credits: `block` refuses them, `allow` counts them, `notify` counts them ' +
        'and announces each further full amount, at 200 %, 300 % and so on',
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
    thresholds: z
      .array(z.int().min(1).max(1000))
      .max(10)
      .refine((percents) => new Set(percents).size === percents.length, 'must have each percentage once')
      .default([...usualThresholds])
      .meta({
        description:
          'At which percentages of what there is `usage.threshold` is announced: each once in a period. 80 and 100 when absent; ' +
          'none when empty',
        example: [80, 100],
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

/** Of a key type or a customer. */
export const maxMeters = 20

const namesEachOnce = (meters: readonly MeterTerms[]) =>
  new Set(meters.map(({ meter }) => meter)).size === meters.length
const eachOnce = 'must name each meter once'

/** The meters of a key type; each name is there once. */
export const MetersOfKeyType = z.array(MeterTerms).max(maxMeters).refine(namesEachOnce, eachOnce)

/** A meter that all licenses of a customer share, and when the customer first had it. */
export type SharedMeter = MeterTerms & { since: string }

/** The meters that all licenses of a customer share; each name is there once. */
export const MetersOfCustomer = z
  .array(
    MeterTerms.refine(({ period }) => period !== 'purchase', {
      path: ['period'],
      message: 'must be day, week, month or license: purchases are of one license, not of a customer',
    }),
  )
  .max(maxMeters)
  .refine(namesEachOnce, eachOnce)
