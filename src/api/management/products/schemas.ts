import { z } from 'zod'
import { KeyPrefix, ProductSettings } from '../../../domain/products/events.ts'
import {
  DeviceLimit,
  Duration,
  defaultKeyType,
  Entitlement,
  Entitlements,
  entitlementSet,
  type KeyType,
  OnExpiry,
  Price,
} from '../../../domain/products/key-type.ts'
import type { SettingsChange } from '../../../domain/products/product.ts'
import { Slug, slugOf } from '../../../domain/values.ts'
import { invalid } from '../../../http/problem.ts'
import { momentOut, text } from '../../../http/schemas.ts'

const entitlementsIn = z
  .array(Entitlement)
  .max(100)
  .meta({ description: 'A set: order and duplicates do not matter', example: ['export', 'sync'] })

export const keyTypeOut = z
  .object({
    keyTypeId: Slug,
    name: z.string(),
    deviceLimit: DeviceLimit.nullable().meta({ description: 'Devices per unit; null is unlimited' }),
    duration: Duration.nullable().meta({ description: 'null is perpetual' }),
    onExpiry: OnExpiry,
    entitlements: Entitlements,
    fallbackEntitlements: Entitlements,
    price: Price.extend({ verifiedAt: momentOut.nullable() }).nullable(),
    sellInMultiples: z.boolean(),
    maxQuantity: z.int().nullable(),
  })
  .meta({ id: 'KeyType' })

const keyTypeFields = z.strictObject({
  name: text(200),
  deviceLimit: DeviceLimit.nullable(),
  duration: Duration.nullable(),
  onExpiry: OnExpiry,
  entitlements: entitlementsIn,
  fallbackEntitlements: entitlementsIn,
  price: z.strictObject({ priceId: text(255) }).nullable(),
  sellInMultiples: z.boolean(),
  maxQuantity: z.int().min(1).max(100_000).nullable(),
})

export const keyTypeIn = keyTypeFields
  .partial()
  .extend({ name: text(200), keyTypeId: Slug.optional() })
  .meta({
    example: { name: 'Pro', deviceLimit: 3, duration: { count: 1, unit: 'year' }, entitlements: ['export'] },
  })

export const keyTypeChange = keyTypeFields
  .partial()
  .extend({
    keyTypeId: Slug.optional().meta({ description: 'Cannot be changed; only the current value is accepted' }),
  })
  .meta({ example: { deviceLimit: 5 } })

/** @throws Problem 400 when no id is given and the name yields none */
export function keyTypeFrom({ keyTypeId, ...fields }: z.infer<typeof keyTypeIn>): KeyType {
  const id = keyTypeId ?? slugOf(fields.name)
  if (id === '') throw invalid('no id can be made from the name; send keyTypeId')
  return { ...defaultKeyType, ...keyTypeChangeFrom(fields), name: fields.name, keyTypeId: id }
}

/** A price that was typed is unverified; it replaces the verified one. */
export function keyTypeChangeFrom(
  fields: Omit<z.infer<typeof keyTypeChange>, 'keyTypeId'>,
): Partial<Omit<KeyType, 'keyTypeId'>> {
  const { entitlements, fallbackEntitlements, price, ...rest } = fields
  return defined({
    ...rest,
    entitlements: entitlements && entitlementSet(entitlements),
    fallbackEntitlements: fallbackEntitlements && entitlementSet(fallbackEntitlements),
    price: price && {
      priceId: price.priceId,
      verified: false,
      unitAmount: null,
      currency: null,
      interval: null,
      verifiedAt: null,
    },
  })
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Removes undefined fields, which would override a default or an earlier value. */
function defined<T extends object>(fields: T): Defined<T> {
  const kept: Defined<T> = { ...fields }
  for (const key of Object.keys(kept) as (keyof T)[]) if (kept[key] === undefined) delete kept[key]
  return kept
}

export const productOut = z
  .object({
    productId: Slug,
    name: z.string(),
    keyPrefix: KeyPrefix,
    settings: ProductSettings,
    keyTypes: z.array(keyTypeOut),
    createdAt: momentOut,
    updatedAt: momentOut,
  })
  .meta({ id: 'Product' })

const settingsFields = ProductSettings.omit({ testMode: true })
  .extend({
    trialDurationDays: z
      .int()
      .min(0)
      .max(3650)
      .nullable()
      .meta({ description: '0 turns trials off, null returns to not configured' }),
    onPaidInFull: z.enum(['by_key_type', 'keep', 'expire']).meta({
      description:
        'What the end of a subscription does to its license once all of a fixed number of payments were made: ' +
        'by its key type, a perpetual license stays and another one expires with the last period, unless it is set',
    }),
    keyRecovery: z.boolean().meta({
      description:
        'Whether the key of a license with an email address is kept sealed from now on, so that it can be mailed there again. false destroys the kept keys',
    }),
    customerSeatFrees: z.int().min(0).max(100).meta({
      description: 'How many seats a customer may free in the portal within 30 days; 3 unless it is set',
    }),
    customerKeyReplacement: z.boolean().meta({
      description:
        'Whether a customer may replace the key of a license in the portal; false unless it is set',
    }),
  })
  .partial()

const settingsIn = {
  ...settingsFields.shape,
  settings: z
    .strictObject(settingsFields.shape)
    .optional()
    .meta({ description: 'The same fields as at the top level, in the shape of responses' }),
}

export const productIn = z
  .strictObject({
    name: text(200),
    productId: Slug.optional().meta({ description: 'Derived from the name when absent' }),
    keyPrefix: KeyPrefix.optional().meta({ description: 'Derived from the name when absent' }),
    ...settingsIn,
    keyTypes: z.array(keyTypeIn).max(100).optional(),
  })
  .meta({ example: { name: 'Acme Editor', keyPrefix: 'ACME', keyTypes: [{ name: 'Pro', deviceLimit: 2 }] } })

export const productChange = z
  .strictObject({ name: text(200).optional(), keyPrefix: KeyPrefix.optional(), ...settingsIn })
  .meta({ example: { trialDurationDays: 14 } })

/** @throws Problem 400 when a setting is given both beside `settings` and in it */
export function settingsFrom(body: z.infer<typeof productChange>): SettingsChange {
  const { name: _, keyPrefix: __, settings, ...beside } = body
  for (const field of Object.keys(settings ?? {})) {
    if (Object.hasOwn(beside, field)) throw invalid(`${field} is sent twice; send it once`)
  }
  return defined({ ...beside, ...settings })
}
