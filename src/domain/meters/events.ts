import { z } from 'zod'
import { Moment, Slug } from '../values.ts'
import { AmountText } from './amount.ts'

const Shares = z.strictObject({
  rolledOver: AmountText.optional(),
  included: AmountText.optional(),
  credits: z.record(z.string(), AmountText).optional(),
  overage: AmountText.optional(),
})

const Period = z.strictObject({ startsAt: Moment, endsAt: Moment.nullable() })

/** By what an amount can be told from every other: a repeated request with it changes nothing. */
const key = z.string().min(1).max(200)

/** What was counted once. Uses of one moment are recorded together. */
const Use = z.strictObject({
  key,
  amount: AmountText,
  from: Shares,
  period: Period,
  /** How much each period included then, of which the next one gets what is left over. */
  included: AmountText,
  /** When it was used, if it was reported later. */
  usedAt: Moment.optional(),
  /** Its own period had ended for good, or had no room for it: it counts in the present one. */
  late: z.literal(true).optional(),
})

/** Everything that is counted under one meter of one license. */
export const MeterEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('MeterOpened'),
    data: z.strictObject({
      tenantId: Slug,
      productId: Slug,
      licenseId: z.string().min(1),
      meter: Slug,
      unit: z.string().min(1),
      at: Moment,
    }),
  }),
  z.strictObject({
    type: z.literal('UsesRecorded'),
    data: z.strictObject({ uses: z.array(Use).min(1), at: Moment }),
  }),
  z.strictObject({
    type: z.literal('UseCorrected'),
    data: z.strictObject({
      key,
      amount: AmountText,
      /** Where it is given back to. */
      to: Shares,
      period: Period,
      reason: z.string().min(1),
      at: Moment,
    }),
  }),
  z.strictObject({
    type: z.literal('HoldPlaced'),
    data: z.strictObject({
      holdId: z.string().min(1),
      key,
      amount: AmountText,
      from: Shares,
      period: Period,
      included: AmountText,
      /** When it is free again, without anybody's doing. */
      endsAt: Moment,
      at: Moment,
    }),
  }),
  z.strictObject({
    type: z.literal('HoldCommitted'),
    data: z.strictObject({
      holdId: z.string().min(1),
      amount: AmountText,
      from: Shares,
      period: Period,
      at: Moment,
    }),
  }),
  z.strictObject({
    type: z.literal('HoldReleased'),
    data: z.strictObject({ holdId: z.string().min(1), at: Moment }),
  }),
  z.strictObject({
    type: z.literal('CreditAdded'),
    data: z.strictObject({
      creditId: z.string().min(1),
      key,
      amount: AmountText,
      endsAt: Moment.nullable(),
      /** As the vendor or a provider names the purchase. */
      order: z.string().min(1).nullable(),
      at: Moment,
    }),
  }),
  z.strictObject({
    type: z.literal('CreditWithdrawn'),
    data: z.strictObject({ creditId: z.string().min(1), reason: z.string().min(1), at: Moment }),
  }),
])
export type MeterEvent = z.infer<typeof MeterEvent>
