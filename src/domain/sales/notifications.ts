import { z } from 'zod'
import { Moment } from '../values.ts'

/** A provider's own id of something. */
export const ForeignId = z.string().min(1).max(500)

/** The name under which the vault keeps the original notification. */
const PayloadName = z.string().min(1).max(300)

/** Minor units. A refund holds the amount that was returned, so no amount is negative. */
export const Amount = z.int().min(0)
export const Currency = z.string().regex(/^[a-z]{3,10}$/)

/** A payment id or another id by which later notifications name the sale, as `<kind>:<id>`. */
export const SaleLink = z.string().min(1).max(600)

/** What was bought, by keyledger's ids or by the provider's. */
export const SoldItem = z.union([
  z.strictObject({ productId: z.string().min(1).max(500), keyTypeId: z.string().min(1).max(500).nullable() }),
  z.strictObject({ providerProduct: z.string().min(1).max(1000) }),
])
export type SoldItem = z.infer<typeof SoldItem>

/** A line of a purchase at the provider, and what was paid for it. */
export const SaleLine = z.strictObject({ lineId: ForeignId, amount: Amount })
export type SaleLine = z.infer<typeof SaleLine>

/** The fields of every notification. */
export const common = {
  notificationId: ForeignId,
  payload: PayloadName,
  /** The provider's time of what happened. */
  occurredAt: Moment,
  at: Moment,
}

const dispute = z.strictObject({
  ...common,
  disputeId: ForeignId,
  /** The provider's id of this chargeback, or of its return, where one payment can have several. */
  caseId: ForeignId.optional(),
  /** A name of the disputed payment; null for events from before payments were distinguished. */
  payment: SaleLink.nullable(),
  amount: Amount.nullable(),
  currency: Currency.nullable(),
})

/** What happens to a sale after its first payment. A fact may arrive before the sale. */
export const SaleFact = z.discriminatedUnion('type', [
  /** A later payment of a subscription. */
  z.object({
    type: z.literal('SaleRenewed'),
    data: z.strictObject({
      ...common,
      paymentId: ForeignId,
      /** The links by which a refund of this payment may name the sale. */
      links: z.array(SaleLink),
      /** null when the provider sends the end of the period separately, in `SubscriptionTold`. */
      paidUntil: Moment.nullable(),
      amount: Amount,
      currency: Currency,
    }),
  }),
  z.object({
    type: z.literal('SaleRefunded'),
    data: z.strictObject({
      ...common,
      refundId: ForeignId,
      /** A name of the refunded payment; null for events from before payments were distinguished. */
      payment: SaleLink.nullable(),
      amount: Amount,
      /** Whether `amount` is the total refunded of the payment so far, rather than this refund alone. */
      cumulative: z.boolean(),
      currency: Currency,
      full: z.boolean(),
      /** What of it was refunded of which line, where the provider tells. */
      lines: z.array(SaleLine).min(1).optional(),
    }),
  }),
  /**
   * A payment for a renewal failed. Each attempt may be reported, under the id that the payment has when it succeeds. It
   * changes no license.
   */
  z.object({
    type: z.literal('RenewalFailed'),
    data: z.strictObject({
      ...common,
      paymentId: ForeignId,
      /** The end of the period that it was to pay; null where the provider does not tell. */
      periodEnd: Moment.nullable(),
      /** How many attempts have failed; null where the provider does not tell. */
      attempt: z.int().min(1).nullable(),
      /** null where the provider does not tell, and after the last attempt. */
      nextAttemptAt: Moment.nullable(),
    }),
  }),
  z.object({ type: z.literal('SaleDisputed'), data: dispute }),
  z.object({ type: z.literal('DisputeWon'), data: dispute }),
  z.object({ type: z.literal('DisputeLost'), data: dispute }),
  z.object({
    type: z.literal('SaleEnded'),
    data: z.strictObject({
      ...common,
      paidUntil: Moment.nullable(),
      /** Present if it had a fixed number of payments and all of them were made. */
      paidInFull: z.literal(true).optional(),
    }),
  }),
  /** Several names of one payment. */
  z.object({
    type: z.literal('PaymentNamed'),
    data: z.strictObject({
      ...common,
      names: z.array(SaleLink).min(1),
      /** Whether it is the payment by which the sale was made. */
      isFirst: z.boolean(),
      /** The end of the period that the first payment covers, if known. */
      paidUntil: Moment.nullable(),
    }),
  }),
  /** The state of a subscription at a moment. Fields that the notification does not hold are null. */
  z.object({
    type: z.literal('SubscriptionTold'),
    data: z.strictObject({
      ...common,
      links: z.array(SaleLink),
      sold: SoldItem.nullable(),
      quantity: z.int().min(1).nullable(),
      paused: z.boolean().nullable(),
      /** All items of the subscription, where the provider tells; `sold` and `quantity` are those of one of them. */
      items: z
        .array(z.strictObject({ sold: SoldItem, quantity: z.int().min(1) }))
        .min(1)
        .optional(),
      /** The end of the paid period, if the provider's payments do not hold it. */
      paidUntil: Moment.nullable(),
    }),
  }),
])
export type SaleFact = z.infer<typeof SaleFact>
