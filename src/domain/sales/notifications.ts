import { z } from 'zod'
import { Moment } from '../values.ts'

/** A provider's own id of something. */
export const ForeignId = z.string().min(1).max(500)

/** Where the vault keeps a notification as it came; null for what came without one. */
const PayloadName = z.string().min(1).max(300)

/** Minor units. A refund is told as what was given back, so nothing is below zero. */
export const Amount = z.int().min(0)
export const Currency = z.string().regex(/^[a-z]{3,10}$/)

/** A payment id, or another one by which later notifications name the sale, as `<kind>:<id>`. */
export const SaleLink = z.string().min(1).max(600)

/** What was bought, by our names or by the provider's. */
export const SoldItem = z.union([
  z.strictObject({ productId: z.string().min(1).max(500), keyTypeId: z.string().min(1).max(500).nullable() }),
  z.strictObject({ providerProduct: z.string().min(1).max(1000) }),
])
export type SoldItem = z.infer<typeof SoldItem>

/** What a provider says in every notification beside its matter. */
export const common = {
  notificationId: ForeignId,
  payload: PayloadName,
  /** When it happened, as the provider says. */
  occurredAt: Moment,
  at: Moment,
}

const dispute = z.strictObject({
  ...common,
  disputeId: ForeignId,
  /** A name of the payment that is disputed; null where payments were not distinguished yet. */
  payment: SaleLink.nullable(),
  amount: Amount.nullable(),
  currency: Currency.nullable(),
})

/** What becomes of a sale after it was made. It may be told before the sale is. */
export const SaleFact = z.discriminatedUnion('type', [
  /** A later payment of a subscription. */
  z.object({
    type: z.literal('SaleRenewed'),
    data: z.strictObject({
      ...common,
      paymentId: ForeignId,
      /** By which a refund of this payment may name the sale. */
      links: z.array(SaleLink),
      /** null when the provider tells the end of the period separately, in `SubscriptionTold`. */
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
      /** A name of the payment that is refunded; null where payments were not distinguished yet. */
      payment: SaleLink.nullable(),
      amount: Amount,
      /** Whether `amount` is everything refunded of the payment so far, rather than this refund alone. */
      cumulative: z.boolean(),
      currency: Currency,
      full: z.boolean(),
    }),
  }),
  z.object({ type: z.literal('SaleDisputed'), data: dispute }),
  z.object({ type: z.literal('DisputeWon'), data: dispute }),
  z.object({ type: z.literal('DisputeLost'), data: dispute }),
  z.object({
    type: z.literal('SaleEnded'),
    data: z.strictObject({ ...common, paidUntil: Moment.nullable() }),
  }),
  /** Several names of one payment. */
  z.object({
    type: z.literal('PaymentNamed'),
    data: z.strictObject({
      ...common,
      names: z.array(SaleLink).min(1),
      /** Whether it is the payment by which the sale was made. */
      isFirst: z.boolean(),
      /** How far the first payment reaches, if that is told. */
      paidUntil: Moment.nullable(),
    }),
  }),
  /** What a subscription is at a moment. What is null was not told. */
  z.object({
    type: z.literal('SubscriptionTold'),
    data: z.strictObject({
      ...common,
      links: z.array(SaleLink),
      sold: SoldItem.nullable(),
      quantity: z.int().min(1).nullable(),
      paused: z.boolean().nullable(),
      /** The end of the period that is paid, where payments do not say so themselves. */
      paidUntil: Moment.nullable(),
    }),
  }),
])
export type SaleFact = z.infer<typeof SaleFact>
