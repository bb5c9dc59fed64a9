import { z } from 'zod'
import { Moment, Slug } from '../values.ts'
import { KeyType, Price } from './key-type.ts'

export const KeyPrefix = z.string().regex(/^[A-Z0-9]{2,8}$/, 'must be 2 to 8 uppercase letters and digits')

/** An absent `trialDurationDays` means never configured; 0 means that trials are off. */
export const ProductSettings = z.strictObject({
  freeTierEnabled: z.boolean(),
  trialDurationDays: z.int().min(0).max(3650).optional(),
  testMode: z.strictObject({ enabled: z.boolean(), publishableKey: z.string().optional() }),
  leaseSeconds: z.int().min(60).max(31_536_000),
  revalidateAfterSeconds: z.int().min(1).max(31_536_000),
  onRefund: z.enum(['revoke', 'keep']),
  /**
   * What the end of a subscription does to its license once all of a fixed number of payments were made. By its key
   * type, as when this is absent, a perpetual license stays, and another one expires with the last period.
   */
  onPaidInFull: z.enum(['by_key_type', 'keep', 'expire']).optional(),
  /** Whether the key of a license is kept sealed, so that it can be mailed to its holder again. */
  keyRecovery: z.boolean(),
  /** How many seats a customer may free in the portal within 30 days; absent for 3, and 0 for none. */
  customerSeatFrees: z.int().min(0).max(100).optional(),
  /** Whether a customer may replace the key in the portal; absent for no. */
  customerKeyReplacement: z.boolean().optional(),
})
export type ProductSettings = z.infer<typeof ProductSettings>

/** Everything a `product-<tenant>.<product>` stream may hold. A recorded shape is never edited: add a new type. */
export const ProductEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ProductCreated'),
    data: z.strictObject({
      tenantId: Slug,
      productId: Slug,
      name: z.string().min(1),
      keyPrefix: KeyPrefix,
      settings: ProductSettings,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('ProductRenamed'),
    data: z.strictObject({ name: z.string().min(1), at: Moment }),
  }),
  z.object({
    type: z.literal('KeyPrefixChanged'),
    data: z.strictObject({ keyPrefix: KeyPrefix, at: Moment }),
  }),
  z.object({
    type: z.literal('ProductSettingsChanged'),
    data: z.strictObject({ settings: ProductSettings, at: Moment }),
  }),
  z.object({ type: z.literal('KeyTypeAdded'), data: z.strictObject({ keyType: KeyType, at: Moment }) }),
  z.object({ type: z.literal('KeyTypeChanged'), data: z.strictObject({ keyType: KeyType, at: Moment }) }),
  /** The secret key is in the vault, under this name. */
  z.object({
    type: z.literal('TestModeEnabled'),
    data: z.strictObject({
      publishableKey: z.string().min(1),
      secretName: z.string().min(1).max(300),
      at: Moment,
    }),
  }),
  /**
   * Test mode without keys: test notifications have an effect, and the card provider's test checkout cannot
   * be used.
   */
  z.object({ type: z.literal('TestModeSwitchedOn'), data: z.strictObject({ at: Moment }) }),
  z.object({ type: z.literal('TestModeDisabled'), data: z.strictObject({ at: Moment }) }),
  /** The prices as the card provider returned them at this moment. */
  z.object({
    type: z.literal('PricesVerified'),
    data: z.strictObject({
      prices: z.array(z.strictObject({ keyTypeId: Slug, price: Price })).min(1),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('KeyTypeDeleted'), data: z.strictObject({ keyTypeId: Slug, at: Moment }) }),
])
export type ProductEvent = z.infer<typeof ProductEvent>
