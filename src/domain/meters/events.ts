import { z } from 'zod'
import { Moment, Slug } from '../values.ts'
import { AmountText, SumText } from './amount.ts'

const Shares = z.strictObject({
  rolledOver: AmountText.optional(),
  included: AmountText.optional(),
  credits: z.record(z.string(), AmountText).optional(),
  overage: AmountText.optional(),
})

/** What was taken from where in a whole period. */
const ShareSums = z.strictObject({
  rolledOver: SumText.optional(),
  included: SumText.optional(),
  credits: z.record(z.string(), SumText).optional(),
  overage: SumText.optional(),
})

const Period = z.strictObject({ startsAt: Moment, endsAt: Moment.nullable() })

/** By what an amount can be told from every other: a repeated request with it changes nothing. */
const key = z.string().min(1).max(200)

/** Of what a customer's licenses share: the one that used it. Absent where the meter is that license's own. */
const licenseId = z.string().min(1).optional()

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
  licenseId,
  /** The allowance of the device that it was taken from. */
  allowance: z.string().min(1).optional(),
})

/** Everything that is counted under one meter of one license, or of one customer for all of their licenses. */
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
  /** A meter that the licenses of a customer share. */
  z.strictObject({
    type: z.literal('SharedMeterOpened'),
    data: z.strictObject({
      tenantId: Slug,
      customerId: z.string().min(1),
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
      licenseId,
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
      licenseId,
      at: Moment,
    }),
  }),
  z.strictObject({
    type: z.literal('HoldReleased'),
    data: z.strictObject({ holdId: z.string().min(1), at: Moment }),
  }),
  z.strictObject({
    type: z.literal('AllowanceGranted'),
    data: z.strictObject({
      allowanceId: z.string().min(1),
      key,
      /** The device that may spend it without a network. */
      instanceId: z.string().min(1),
      amount: AmountText,
      from: Shares,
      period: Period,
      included: AmountText,
      /** Until when the device may spend it. */
      endsAt: Moment,
      /** Until when the device may report what it has spent; what is left is free then, without anybody's doing. */
      keptUntil: Moment,
      licenseId,
      at: Moment,
    }),
  }),
  z.strictObject({
    type: z.literal('AllowanceReturned'),
    data: z.strictObject({ allowanceId: z.string().min(1), at: Moment }),
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
    data: z.strictObject({
      creditId: z.string().min(1),
      reason: z.string().min(1),
      /** By which a repeated withdrawal finds what was left; absent where none is repeated. */
      key: key.optional(),
      /** What was left of it and not held; absent in events from before it was recorded. */
      left: AmountText.optional(),
      at: Moment,
    }),
  }),
  /** So much of what a period has is used, see `thresholds.ts`: recorded with what brought it there. */
  z.strictObject({
    type: z.literal('ThresholdReached'),
    data: z.strictObject({
      percent: z.int().min(1),
      /** A full amount beyond what there is, and no threshold of the key type. */
      further: z.literal(true).optional(),
      used: SumText,
      /** What is left, without what would be beyond it. */
      remaining: SumText,
      overage: SumText,
      period: Period,
      /** Of a shared meter: the license that used it last in the period, whose history gets the event. */
      licenseId,
      at: Moment,
    }),
  }),
  /** The thresholds above this percentage, which had been reached, can be reached again. */
  z.strictObject({
    type: z.literal('ThresholdsRearmed'),
    data: z.strictObject({ percent: z.int().min(0), period: Period, at: Moment }),
  }),
  /** Nothing more counts in the period. */
  z.strictObject({
    type: z.literal('PeriodClosed'),
    data: z.strictObject({
      period: Period,
      /** When it ended: of one by purchase, when the next one began. */
      endedAt: Moment,
      used: SumText,
      /** What of it came from where. */
      from: ShareSums,
      /** As of a threshold. */
      licenseId,
      at: Moment,
    }),
  }),
])
export type MeterEvent = z.infer<typeof MeterEvent>
