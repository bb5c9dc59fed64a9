import { z } from 'zod'
import { AmountText, SumText } from '../meters/amount.ts'
import { Moment, Slug } from '../values.ts'

const ownMeter = {
  meter: Slug,
  unit: z.string().min(1),
  /** Of the event in the stream of the meter. */
  meterRevision: z.int().nonnegative(),
}

const meter = {
  ...ownMeter,
  /** Whose meter it is, where the licenses of a customer share it: this one used it last. */
  customerId: z.string().min(1).optional(),
}

/** What is told of a meter in the history of its license, and where it is announced. Single uses are not. */
export const usageEvents = [
  z.object({
    type: z.literal('UsageThresholdReached'),
    data: z.strictObject({
      ...meter,
      percent: z.int().min(1),
      used: SumText,
      remaining: SumText,
      overage: SumText,
      startsAt: Moment,
      endsAt: Moment.nullable(),
      /** Its holder gets a mail. */
      mail: z.literal(true).optional(),
      at: Moment,
    }),
  }),
  /** Nothing more counts in the period: what was used in it, and what of that came from where. */
  z.object({
    type: z.literal('UsagePeriodClosed'),
    data: z.strictObject({
      ...meter,
      startsAt: Moment,
      endedAt: Moment,
      used: SumText,
      rolledOver: SumText,
      included: SumText,
      credits: SumText,
      overage: SumText,
      at: Moment,
    }),
  }),
  /** Of a license's own meter: credits and corrections of a shared one belong to the customer. */
  z.object({
    type: z.literal('UsageAdjusted'),
    data: z.strictObject({
      ...ownMeter,
      what: z.enum(['credit_added', 'credit_withdrawn', 'use_corrected']),
      /** null of a credit that is withdrawn: whatever was left of it. */
      amount: AmountText.nullable(),
      /** The order number of a credit, or the reason of the others. */
      note: z.string().min(1).nullable(),
      at: Moment,
    }),
  }),
] as const
