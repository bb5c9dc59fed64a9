import { z } from 'zod'
import { Provider } from '../integration/provider.ts'
import { Holder } from '../license/events.ts'
import { Moment, Slug } from '../values.ts'

/** A provider's own id of something. */
const ForeignId = z.string().min(1).max(500)

/** Where the vault keeps a notification as it came; null for what came without one. */
const PayloadName = z.string().min(1).max(300)

/** Minor units. A refund is told as what was given back, so nothing is below zero. */
const Amount = z.int().min(0)
const Currency = z.string().regex(/^[a-z]{3,10}$/)

/** A payment id, or another one by which later notifications name the sale, as `<kind>:<id>`. */
export const SaleLink = z.string().min(1).max(600)

/** What a provider says in every notification beside its matter. */
const told = {
  notificationId: ForeignId,
  payload: PayloadName,
  /** When it happened, as the provider says. */
  occurredAt: Moment,
  at: Moment,
}

const dispute = z.strictObject({
  ...told,
  disputeId: ForeignId,
  amount: Amount.nullable(),
  currency: Currency.nullable(),
})

/** What becomes of a sale after it was made. It may be told before the sale is. */
export const SaleFact = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('SaleRenewed'),
    data: z.strictObject({
      ...told,
      paymentId: ForeignId,
      /** By which a refund of this payment may name the sale. */
      links: z.array(SaleLink),
      paidUntil: Moment,
      amount: Amount,
      currency: Currency,
    }),
  }),
  z.object({
    type: z.literal('SaleRefunded'),
    data: z.strictObject({
      ...told,
      refundId: ForeignId,
      amount: Amount,
      currency: Currency,
      full: z.boolean(),
    }),
  }),
  z.object({ type: z.literal('SaleDisputed'), data: dispute }),
  z.object({ type: z.literal('DisputeWon'), data: dispute }),
  z.object({ type: z.literal('DisputeLost'), data: dispute }),
  z.object({
    type: z.literal('SaleEnded'),
    data: z.strictObject({ ...told, paidUntil: Moment.nullable() }),
  }),
])
export type SaleFact = z.infer<typeof SaleFact>

/** What was bought, by our names or by the provider's. */
export const SoldItem = z.union([
  z.strictObject({ productId: z.string().min(1).max(500), keyTypeId: z.string().min(1).max(500).nullable() }),
  z.strictObject({ providerProduct: z.string().min(1).max(1000) }),
])
export type SoldItem = z.infer<typeof SoldItem>

/** Why a paid sale has no license yet. */
export const ParkedReason = z.enum([
  'no_mapping',
  'product_not_found',
  'key_type_not_found',
  'quantity_not_allowed',
  'quantity_too_large',
  'tenant_suspended',
  'tenant_closed',
])
export type ParkedReason = z.infer<typeof ParkedReason>

/** Everything a `sale-<tenant>.<provider>.<hash>` stream may hold. A recorded shape is never edited: add a new type. */
export const SaleEvent = z.discriminatedUnion('type', [
  /** The intent: whoever goes on with the sale, after whatever crash, issues this license and no other. */
  z.object({
    type: z.literal('SaleReceived'),
    data: z.strictObject({
      ...told,
      /** Our own id of the sale. */
      id: z.string().min(1),
      tenantId: Slug,
      provider: Provider,
      /** The provider's. */
      saleId: ForeignId,
      sessionId: ForeignId,
      links: z.array(SaleLink),
      sold: SoldItem,
      quantity: z.int().min(1),
      customer: Holder,
      amount: Amount,
      currency: Currency,
      productName: z.string(),
      paidUntil: Moment.nullable(),
      test: z.boolean(),
      licenseId: z.string().min(1),
      /** Where the vault keeps the license's key, once it is made, until it has been delivered. */
      keyName: z.string().min(1).max(300),
    }),
  }),
  /** What is issued for it. */
  z.object({
    type: z.literal('SaleMapped'),
    data: z.strictObject({ productId: Slug, keyTypeId: Slug, at: Moment }),
  }),
  z.object({
    type: z.literal('SaleParked'),
    data: z.strictObject({ reason: ParkedReason, detail: z.string().min(1).max(1000), at: Moment }),
  }),
  z.object({
    type: z.literal('SaleLicensed'),
    data: z.strictObject({
      licenseId: z.string().min(1),
      productId: Slug,
      keyTypeId: Slug,
      expiresAt: Moment.nullable(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('SalePaymentRecorded'),
    data: z.strictObject({
      saleId: ForeignId,
      source: Provider,
      amount: Amount,
      currency: Currency,
      productName: z.string(),
      customer: Holder,
      at: Moment,
    }),
  }),
  /** The provider named it by more ids when it told of the same sale again. */
  z.object({ type: z.literal('SaleLinked'), data: z.strictObject({ links: z.array(SaleLink), at: Moment }) }),
  /** The same sale was told again, and nothing was done. */
  z.object({
    type: z.literal('DuplicateReceived'),
    data: z.strictObject({ notificationId: ForeignId, at: Moment }),
  }),
  ...SaleFact.options,
  /** The license is as the first `through` facts want it. */
  z.object({ type: z.literal('SaleSettled'), data: z.strictObject({ through: z.int().min(0), at: Moment }) }),
])
export type SaleEvent = z.infer<typeof SaleEvent>
