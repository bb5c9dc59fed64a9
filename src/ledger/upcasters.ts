import { z } from 'zod'
import { fromStripeThroughout, saleInMinorUnits } from './stripe-amounts.ts'

/** Takes an event's data in the shape of one schema number and returns it in the next one's. */
type Upcaster = (data: unknown) => unknown

/**
 * How old shapes become today's, by event type: the first upcaster turns schema 1 into 2, the second 2 into 3,
 * and so on, so the current schema number of a type is the length of its list plus one. A shape once recorded is
 * never edited: change the zod schema, add the upcaster here, and add the old shape's line to the golden file
 * (test/ledger/golden-events.jsonl), which holds every shape ever written.
 */
export type Upcasters = Readonly<Record<string, readonly Upcaster[]>>

/** A shape that takes in more than before: what was recorded already fits it. */
const widened: Upcaster = (data) => data

/** What is not of the old shape stays as it is: today's shape then says what does not fit. */
const from =
  <Old extends z.ZodType>(old: Old, upcast: (data: z.infer<Old>) => unknown): Upcaster =>
  (data) => {
    const known = old.safeParse(data)
    return known.success ? upcast(known.data) : data
  }

/**
 * Which payment was refunded was not recorded. Lemon Squeezy and Polar tell what was refunded in all, which stands in the
 * refund's id behind a dot; Stripe's id has the same form, but the amount was the step.
 */
const refundWithoutPayment = from(z.looseObject({ refundId: z.string(), amount: z.number() }), (refund) => {
  const total = Number(/\.(\d{1,15})$/.exec(refund.refundId)?.[1] ?? Number.NaN)
  const cumulative = total >= refund.amount
  return { ...refund, payment: null, amount: cumulative ? total : refund.amount, cumulative }
})

const disputeWithoutPayment = from(z.looseObject({}), (dispute) => ({ ...dispute, payment: null }))

/** A fact in the shape that it had when notices were recorded in schema 1. */
const factUpcasters: Readonly<Record<string, Upcaster>> = {
  SaleRefunded: refundWithoutPayment,
  SaleDisputed: disputeWithoutPayment,
  DisputeWon: disputeWithoutPayment,
  DisputeLost: disputeWithoutPayment,
}

const notificationOfOldFact = from(
  z.looseObject({ fact: z.object({ type: z.string(), data: z.unknown() }) }),
  (notice) => {
    const { type, data } = notice.fact
    return { ...notice, fact: { type, data: factUpcasters[type]?.(data) ?? data } }
  },
)

/** Whether a sale or a person was the cause is told by what stands beside it, where the reason is the sale's. */
const revocationWithoutCause = from(z.looseObject({ reason: z.string().nullable() }), (revoked) => ({
  ...revoked,
  cause: revoked.reason === 'refunded' ? null : 'person',
}))

/** Every refund was of the whole sale. */
const refundOfWholeSale = from(z.looseObject({ amount: z.number() }), (refund) => ({
  ...refund,
  payment: null,
  cause: 'refund',
  totalRefunded: refund.amount,
  paidLeft: false,
}))

const reinstatedAsWhole = from(z.looseObject({}), (reinstated) => ({
  ...reinstated,
  payments: [],
  paidLeft: true,
}))

export const upcasters: Upcasters = {
  // Prices are Stripe's.
  KeyTypeAdded: [fromStripeThroughout],
  KeyTypeChanged: [fromStripeThroughout],
  PricesVerified: [fromStripeThroughout],
  // The customer may be null.
  SaleReceived: [widened, saleInMinorUnits],
  SalePaymentRecorded: [widened, saleInMinorUnits],
  // The end of the period may be null.
  SaleRenewed: [widened, saleInMinorUnits],
  SaleRefunded: [refundWithoutPayment, saleInMinorUnits],
  SaleDisputed: [disputeWithoutPayment, saleInMinorUnits],
  DisputeWon: [disputeWithoutPayment, saleInMinorUnits],
  DisputeLost: [disputeWithoutPayment, saleInMinorUnits],
  NoticeKept: [notificationOfOldFact, saleInMinorUnits],
  LicenseRevoked: [revocationWithoutCause],
  LicenseRefunded: [refundOfWholeSale, saleInMinorUnits],
  LicenseReinstated: [reinstatedAsWhole],
}
