import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

export const Entitlement = z.string().regex(/^[a-z0-9][a-z0-9._:-]{0,63}$/)

/** A set written down in one form only: sorted, without repeats. */
export const Entitlements = z
  .array(Entitlement)
  .max(100)
  .refine((list) => list.every((entry, index) => index === 0 || (list[index - 1] ?? '') < entry), {
    message: 'must be sorted and unique',
  })

export const Duration = z.strictObject({
  count: z.int().min(1).max(1000),
  unit: z.enum(['day', 'month', 'year']),
})
export type Duration = z.infer<typeof Duration>

export const OnExpiry = z.enum(['expire', 'fallback'])
export type OnExpiry = z.infer<typeof OnExpiry>

/** A price at the card provider. Amounts are integer minor units, the currency a lower-case ISO 4217 code. */
export const Price = z.strictObject({
  priceId: z.string().min(1).max(255),
  verified: z.boolean(),
  unitAmount: z.int().nonnegative().nullable(),
  currency: z.string().length(3).nullable(),
  interval: z.string().nullable(),
  verifiedAt: Moment.nullable(),
})
export type Price = z.infer<typeof Price>

/** `null` for a device limit or a greatest quantity means unlimited, for a duration perpetual. */
export const DeviceLimit = z.int().min(1).max(100_000)

/** What is sold: the rules that a license takes over when it is issued. */
export const KeyType = z.strictObject({
  keyTypeId: Slug,
  name: z.string().min(1).max(200),
  deviceLimit: DeviceLimit.nullable(),
  duration: Duration.nullable(),
  onExpiry: OnExpiry,
  entitlements: Entitlements,
  fallbackEntitlements: Entitlements,
  price: Price.nullable(),
  sellInMultiples: z.boolean(),
  maxQuantity: z.int().min(1).max(100_000).nullable(),
})
export type KeyType = z.infer<typeof KeyType>

/** The key type an app gets when none is given, since an app always has at least one: one device, perpetual. */
export const defaultKeyType: KeyType = {
  keyTypeId: 'default',
  name: 'Default',
  deviceLimit: 1,
  duration: null,
  onExpiry: 'expire',
  entitlements: [],
  fallbackEntitlements: [],
  price: null,
  sellInMultiples: false,
  maxQuantity: null,
}
