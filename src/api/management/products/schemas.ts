import { z } from 'zod'
import { MetersOfKeyType } from '../../../domain/meters/terms.ts'
import { KeyPrefix, ProductSettings } from '../../../domain/products/events.ts'
import {
  DeviceLimit,
  Duration,
  defaultKeyType,
  Entitlement,
  Entitlements,
  EntitlementValues,
  entitlementSet,
  FloatingSeats,
  GraceSeconds,
  type KeyType,
  NamedSeats,
  OfflineFiles,
  OnExpiry,
  Price,
  StartsAt,
} from '../../../domain/products/key-type.ts'
import type { SettingsChange } from '../../../domain/products/product.ts'
import { Slug, slugOf } from '../../../domain/values.ts'
import { seatPolicy, seatPolicyShape, seatPolicyShown } from '../../../http/licenses/seats.ts'
import { invalid } from '../../../http/problem.ts'
import { momentOut, text } from '../../../http/schemas.ts'

const entitlementsIn = z
  .array(Entitlement)
  .max(100)
  .meta({
    description: 'What its licenses unlock in the app. A set: order and duplicates do not matter',
    example: ['export', 'sync'],
  })

const values = {
  description:
    'How much of an entitlement a license grants, by its name: true, a number, or text of up to 200 characters, such as a date',
  example: { projects: 25, tier: 'gold' },
}

const deviceLimit = DeviceLimit.nullable().meta({
  description: 'How many devices may have a seat at the same time, for each unit; null is unlimited',
  example: 3,
})

const offlineFiles = OfflineFiles.nullable().meta({
  description:
    'License files, with which a device may go on without a network; null, or absent, where there are none',
})

const metersText = {
  description:
    'What is metered for its licenses, each meter by its id. Licenses have the meters of their key type as they are now; what ' +
    'was used stays counted',
}

const keyTypeName = <Name extends z.ZodType>(name: Name): Name =>
  name.meta({ description: 'The name that people read, also customers', example: 'Pro' })

const productName = <Name extends z.ZodType>(name: Name): Name =>
  name.meta({ description: 'The name that people read, also customers', example: 'Editor' })

export const keyTypeOut = z
  .object({
    keyTypeId: Slug,
    name: keyTypeName(z.string()),
    deviceLimit,
    duration: Duration.nullable(),
    onExpiry: OnExpiry,
    entitlements: Entitlements,
    fallbackEntitlements: Entitlements,
    entitlementValues: EntitlementValues.optional().meta({
      ...values,
      description: `${values.description}; absent without any`,
    }),
    price: Price.extend({ verifiedAt: momentOut.nullable() })
      .nullable()
      .meta({ description: 'The price at Stripe; null if it is not sold there' }),
    sellInMultiples: z.boolean(),
    maxQuantity: z.int().nullable(),
    startsAt: StartsAt.optional(),
    graceSeconds: z.int().optional(),
    updates: Duration.nullable().optional().meta({
      description: 'For how long a license covers new builds of the app; absent for every build',
    }),
    offlineFiles: offlineFiles.optional(),
    ...seatPolicyShape,
    meters: MetersOfKeyType.optional().meta({
      ...metersText,
      description: `${metersText.description}. Absent without any`,
    }),
  })
  .meta({
    id: 'KeyType',
    description:
      'A kind of license of a product. A license copies its terms when it is issued, except the entitlements',
  })

const keyTypeFields = z.strictObject({
  name: keyTypeName(text(200)),
  deviceLimit,
  duration: Duration.nullable(),
  onExpiry: OnExpiry,
  entitlements: entitlementsIn,
  fallbackEntitlements: entitlementsIn.meta({
    description: 'What a license still unlocks after a fallback. A set',
  }),
  entitlementValues: EntitlementValues.meta({
    ...values,
    description: `${values.description}. Each name is in \`entitlements\` or \`fallbackEntitlements\` too; replaces all values`,
  }),
  price: z
    .strictObject({ priceId: text(255) })
    .nullable()
    .meta({ description: 'The price at Stripe, which is verified later; null removes it' }),
  sellInMultiples: z.boolean(),
  maxQuantity: z.int().min(1).max(100_000).nullable(),
  startsAt: StartsAt,
  graceSeconds: GraceSeconds,
  updates: Duration.nullable().meta({
    description:
      'For how long after its issue, and after each later payment of its subscription, a license covers new builds of the app; null for every build',
  }),
  offlineFiles,
  seatPolicy: seatPolicy.meta({
    description:
      '`device`: a device keeps its seat until it gives it back; the default. `floating`: it has its seat only as long as it ' +
      'calls; send `floatingSeats` with it. `named`: people have the seats; send `namedSeats` with it. Licenses keep the policy that they were issued with',
  }),
  floatingSeats: FloatingSeats.nullable().meta({
    description: 'How seats float: makes the policy `floating`; null makes it `device`',
  }),
  namedSeats: NamedSeats.nullable().meta({
    description: 'What people may do with their seats: makes the policy `named`; null makes it `device`',
  }),
  meters: MetersOfKeyType.meta({
    ...metersText,
    description: `${metersText.description}. Replaces all meters`,
  }),
})

export const keyTypeIn = z
  .strictObject({
    name: keyTypeFields.shape.name,
    keyTypeId: Slug.optional().meta({ description: 'Derived from the name when absent', example: 'pro' }),
    ...keyTypeFields.omit({ name: true }).partial().shape,
  })
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

/** A key type as responses show it. */
export const keyTypeView = ({
  floatingSeats,
  namedSeats,
  ...keyType
}: KeyType): z.infer<typeof keyTypeOut> => ({
  ...keyType,
  ...seatPolicyShown({ floatingSeats, namedSeats }),
})

type SeatFields = Pick<z.infer<typeof keyTypeChange>, 'seatPolicy' | 'floatingSeats' | 'namedSeats'>

/**
 * The rules of one policy replace those of another.
 * @throws Problem 400 when the policy and the rules contradict each other
 */
function seatsIn({
  seatPolicy: policy,
  floatingSeats,
  namedSeats,
}: SeatFields): Omit<SeatFields, 'seatPolicy'> {
  if (policy === 'floating' && !floatingSeats)
    throw invalid('seatPolicy floating needs to know how seats float; send floatingSeats with it')
  if (policy === 'named' && !namedSeats)
    throw invalid(
      'seatPolicy named needs to know what people may do with their seats; send namedSeats with it',
    )
  if (floatingSeats && namedSeats)
    throw invalid('floatingSeats and namedSeats contradict each other; send one of them')
  if (floatingSeats && policy !== undefined && policy !== 'floating')
    throw invalid(`seatPolicy ${policy} and floatingSeats contradict each other; send one of them`)
  if (namedSeats && policy !== undefined && policy !== 'named')
    throw invalid(`seatPolicy ${policy} and namedSeats contradict each other; send one of them`)
  const isReplaced = policy === 'device'
  return {
    floatingSeats: isReplaced || namedSeats ? null : floatingSeats,
    namedSeats: isReplaced || floatingSeats ? null : namedSeats,
  }
}

/**
 * A price that was typed is unverified; it replaces the verified one.
 * @throws Problem 400 when `seatPolicy`, `floatingSeats` and `namedSeats` contradict each other
 */
export function keyTypeChangeFrom(
  fields: Omit<z.infer<typeof keyTypeChange>, 'keyTypeId'>,
): Partial<Omit<KeyType, 'keyTypeId'>> {
  const { entitlements, fallbackEntitlements, price, seatPolicy, floatingSeats, namedSeats, ...rest } = fields
  return defined({
    ...rest,
    ...seatsIn({ seatPolicy, floatingSeats, namedSeats }),
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
    name: productName(z.string()),
    keyPrefix: KeyPrefix,
    settings: ProductSettings.meta({ description: 'How its licenses and apps behave' }),
    keyTypes: z.array(keyTypeOut).meta({ description: 'Its key types, oldest first; there is at least one' }),
    createdAt: momentOut.meta({ example: '2026-11-02T09:58:00.000Z' }),
    updatedAt: momentOut,
  })
  .meta({ id: 'Product', description: 'A product of a tenant, with its settings and key types' })

const settingsFields = ProductSettings.omit({ testMode: true })
  .extend({
    trialDurationDays: z
      .int()
      .min(0)
      .max(3650)
      .nullable()
      .meta({ description: '0 turns trials off, null returns to not configured' }),
    deviceMatch: ProductSettings.shape.deviceMatch.unwrap().nullable().meta({
      description:
        'When a device without a known machine hash is the same by its components; null returns to more than half',
    }),
    expiringNotice: ProductSettings.shape.expiringNotice.unwrap().nullable().meta({
      description: 'When the holder of a license is told by mail that it expires; null turns these mails off',
    }),
    deviceMails: ProductSettings.shape.deviceMails.unwrap().nullable().meta({
      description:
        'What the holder of a license is told by mail about its devices; null turns these mails off',
    }),
    keySharing: ProductSettings.shape.keySharing.unwrap().nullable().meta({
      description: 'When a license looks shared, in place of what was set; null counts nothing',
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
    name: productName(text(200)),
    productId: Slug.optional().meta({ description: 'Derived from the name when absent', example: 'editor' }),
    keyPrefix: KeyPrefix.optional().meta({
      description: 'Derived from the name when absent',
      example: 'ACME',
    }),
    ...settingsIn,
    keyTypes: z
      .array(keyTypeIn)
      .max(100)
      .optional()
      .meta({ description: 'Its key types; one named `default` when absent' }),
  })
  .meta({ example: { name: 'Editor', keyPrefix: 'ACME', keyTypes: [{ name: 'Pro', deviceLimit: 2 }] } })

export const productChange = z
  .strictObject({
    name: productName(text(200)).optional(),
    keyPrefix: KeyPrefix.optional().meta({
      description: 'Of keys issued from now on; existing keys keep theirs',
    }),
    ...settingsIn,
  })
  .meta({ example: { trialDurationDays: 14 } })

/** @throws Problem 400 when a setting is given both beside `settings` and in it */
export function settingsFrom(body: z.infer<typeof productChange>): SettingsChange {
  const { name: _, keyPrefix: __, settings, ...beside } = body
  for (const field of Object.keys(settings ?? {})) {
    if (Object.hasOwn(beside, field)) throw invalid(`${field} is sent twice; send it once`)
  }
  return defined({ ...beside, ...settings })
}
