import { z } from 'zod'
import { Provider } from '../integrations/provider.ts'
import { Holder } from '../licenses/events.ts'
import { Moment, Slug } from '../values.ts'
import { Amount, Currency, common, ForeignId, SaleFact, SaleLink, SoldItem } from './notifications.ts'

export { SaleFact, SaleLink, SoldItem } from './notifications.ts'

/** Recorded as the name of what was sold where the provider tells none. */
export const unknownProduct = 'Unknown product'

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

/** The intent: any process that resumes the sale after a crash issues this license and no other. */
export const SaleReceived = z.object({
  type: z.literal('SaleReceived'),
  data: z.strictObject({
    ...common,
    /** keyledger's id of the sale. */
    id: z.string().min(1),
    tenantId: Slug,
    provider: Provider,
    /** The provider's id of the sale. */
    saleId: ForeignId,
    sessionId: ForeignId,
    links: z.array(SaleLink),
    sold: SoldItem,
    quantity: z.int().min(1),
    /** null when the provider names no email address. */
    customer: Holder.nullable(),
    amount: Amount,
    currency: Currency,
    productName: z.string(),
    paidUntil: Moment.nullable(),
    test: z.boolean(),
    licenseId: z.string().min(1),
    /** The name under which the vault keeps the license's key, from its creation until its delivery. */
    keyName: z.string().min(1).max(300),
  }),
})

/** Everything a `sale-<tenant>.<provider>.<hash>` stream may hold. A recorded shape is never edited: add a new type. */
export const SaleEvent = z.discriminatedUnion('type', [
  SaleReceived,
  /** The product and key type to issue. */
  z.object({
    type: z.literal('SaleMapped'),
    data: z.strictObject({ productId: Slug, keyTypeId: Slug, at: Moment }),
  }),
  /** More was paid for than the key type allows per purchase. The license covers what was paid for. */
  z.object({
    type: z.literal('QuantityExceeded'),
    data: z.strictObject({ keyTypeId: Slug, quantity: z.int().min(2), sold: z.int().min(1), at: Moment }),
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
      customer: Holder.nullable(),
      at: Moment,
    }),
  }),
  /** The provider sent more ids of the sale in a repeated notification. */
  z.object({ type: z.literal('SaleLinked'), data: z.strictObject({ links: z.array(SaleLink), at: Moment }) }),
  /** A notification of the same sale was received again, without an effect. */
  z.object({
    type: z.literal('DuplicateReceived'),
    data: z.strictObject({ notificationId: ForeignId, at: Moment }),
  }),
  ...SaleFact.options,
  /**
   * The provider's name of the plan that the subscription was changed to and that is mapped to no key type;
   * the license does not change. null once it is mapped, or the subscription was changed again.
   */
  z.object({
    type: z.literal('PlanNotMapped'),
    data: z.strictObject({ plan: z.string().min(1).max(1000).nullable(), at: Moment }),
  }),
  /** A person requested a new look-up of the mapping. It counts as a fact, so that the license is updated. */
  z.object({ type: z.literal('PlanReviewed'), data: z.strictObject({ at: Moment }) }),
  /** The license reflects the first `through` facts. */
  z.object({ type: z.literal('SaleSettled'), data: z.strictObject({ through: z.int().min(0), at: Moment }) }),
])
export type SaleEvent = z.infer<typeof SaleEvent>
