import { z } from 'zod'
import { Provider } from '../integrations/provider.ts'
import { Holder } from '../licenses/events.ts'
import { AmountText } from '../meters/amount.ts'
import { LanguageTag } from '../portal/languages.ts'
import { Moment, Slug } from '../values.ts'
import {
  Amount,
  Currency,
  common,
  ForeignId,
  SaleFact,
  SaleLine,
  SaleLink,
  SoldItem,
} from './notifications.ts'

export { SaleFact, SaleLink, SoldItem } from './notifications.ts'

/** Recorded as the name of what was sold where the provider tells none. */
export const unknownProduct = 'Unknown product'

/** More items than any provider's checkout sells at once; further ones would not be licensed, so they are refused. */
export const maxItems = 100

/** Why a paid sale has no license yet. */
export const ParkedReason = z.enum([
  'no_mapping',
  'product_not_found',
  'key_type_not_found',
  'quantity_not_allowed',
  'quantity_too_large',
  'no_license_for_credit',
  'tenant_suspended',
  'tenant_closed',
])
export type ParkedReason = z.infer<typeof ParkedReason>

/** What was bought besides the first item. Each item has a license of its own. */
const FurtherItem = z.strictObject({
  sold: SoldItem,
  quantity: z.int().min(1),
  licenseId: z.string().min(1),
  keyName: z.string().min(1).max(300),
  line: SaleLine.optional(),
})

/** Which item of a sale an event is about: its place, from 1 on; absent for the first. */
const item = z.int().min(1).optional()

/** The intent: any process that resumes the sale after a crash issues these licenses and no others. */
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
    /** The number on the customer's receipt, where it is another than the provider's id. */
    orderNumber: ForeignId.optional(),
    links: z.array(SaleLink),
    sold: SoldItem,
    quantity: z.int().min(1),
    /** null when the provider names no email address. */
    customer: Holder.nullable(),
    /** The language in which the customer bought, where the provider tells it. */
    language: LanguageTag.optional(),
    /** Who paid for a gift; the customer is who was given it. */
    giver: Holder.optional(),
    amount: Amount,
    currency: Currency,
    productName: z.string(),
    paidUntil: Moment.nullable(),
    test: z.boolean(),
    licenseId: z.string().min(1),
    /** The name under which the vault keeps the license's key, from its creation until its delivery. */
    keyName: z.string().min(1).max(300),
    /** The license that the checkout named, for credits. */
    creditLicenseId: ForeignId.optional(),
    /** The first item's price at the provider, by which its subscription names it, where `sold` is something else. */
    priceId: ForeignId.optional(),
    /** The first item's line at the provider, where lines are refunded one by one. */
    line: SaleLine.optional(),
    items: z
      .array(FurtherItem)
      .max(maxItems - 1)
      .optional(),
  }),
})

/** Everything a `sale-<tenant>.<provider>.<hash>` stream may hold. A recorded shape is never edited: add a new type. */
export const SaleEvent = z.discriminatedUnion('type', [
  SaleReceived,
  /** The product and key type to issue. */
  z.object({
    type: z.literal('SaleMapped'),
    data: z.strictObject({ productId: Slug, keyTypeId: Slug, item, at: Moment }),
  }),
  /** The credit to add, and the meter, which are not chosen anew after a crash. */
  z.object({
    type: z.literal('CreditMapped'),
    data: z.strictObject({
      item,
      productId: Slug,
      licenseId: z.string().min(1),
      /** Where the license shares the meter with the others of its customer. */
      customerId: z.string().min(1).optional(),
      meter: Slug,
      unit: z.string().min(1),
      amount: AmountText,
      /** How long it can be spent; null for ever. */
      days: z.int().min(1).nullable(),
      at: Moment,
    }),
  }),
  /** The credit was added; again after a refund that was undone. */
  z.object({
    type: z.literal('SaleCredited'),
    data: z.strictObject({
      item,
      creditId: z.string().min(1),
      licenseId: z.string().min(1),
      customerId: z.string().min(1).optional(),
      meter: Slug,
      amount: AmountText,
      endsAt: Moment.nullable(),
      at: Moment,
    }),
  }),
  /** No payment is left: what was left of the credit is gone. */
  z.object({
    type: z.literal('SaleCreditWithdrawn'),
    data: z.strictObject({ item, creditId: z.string().min(1), left: AmountText, at: Moment }),
  }),
  /** More was paid for than the key type allows per purchase. The license covers what was paid for. */
  z.object({
    type: z.literal('QuantityExceeded'),
    data: z.strictObject({
      keyTypeId: Slug,
      quantity: z.int().min(2),
      sold: z.int().min(1),
      item,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('SaleParked'),
    data: z.strictObject({ reason: ParkedReason, detail: z.string().min(1).max(1000), at: Moment }),
  }),
  /** Of several items, this one is the first from now on: it is the first that can be licensed. */
  z.object({
    type: z.literal('ItemMovedFirst'),
    data: z.strictObject({ item: z.int().min(1), at: Moment }),
  }),
  /** An item besides the first that cannot be licensed. The other items are. */
  z.object({
    type: z.literal('ItemNotMapped'),
    data: z.strictObject({
      item: z.int().min(1),
      reason: ParkedReason,
      detail: z.string().min(1).max(1000),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('SaleLicensed'),
    data: z.strictObject({
      item,
      licenseId: z.string().min(1),
      productId: Slug,
      keyTypeId: Slug,
      expiresAt: Moment.nullable(),
      /** Its term starts at its first activation; absent for a license whose term had an end, or has none. */
      waits: z.literal(true).optional(),
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
