import { z } from 'zod'
import { MetersOfKeyType } from '../meters/terms.ts'
import { Moment, Slug } from '../values.ts'
import { EntitlementValue } from './entitlement-values.ts'

export const Entitlement = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._:-]{0,63}$/,
    'must be up to 64 lowercase letters, digits and . _ : -, beginning with a letter or digit',
  )

/** A set in one canonical form: sorted, without repeats. */
export const Entitlements = z
  .array(Entitlement)
  .max(100)
  .refine((list) => list.every((entry, index) => index === 0 || (list[index - 1] ?? '') < entry), {
    message: 'must be sorted and unique',
  })

/** Any list of entitlements in that form. */
export const entitlementSet = (entries: readonly string[]): string[] => [...new Set(entries)].sort()

/** By name. Each name is one that the licenses have as well. */
export const EntitlementValues = z
  .record(Entitlement, EntitlementValue)
  .refine((values) => Object.keys(values).length <= 100, 'must have at most 100 values')

export const Duration = z.strictObject({
  count: z.int().min(1).max(1000).meta({ description: 'How many of the unit', example: 1 }),
  unit: z
    .enum(['day', 'month', 'year'])
    .meta({ description: 'Calendar units, counted in UTC', example: 'year' }),
})
export type Duration = z.infer<typeof Duration>

export const OnExpiry = z.enum(['expire', 'fallback'])
export type OnExpiry = z.infer<typeof OnExpiry>

/** A leap year at most. */
export const GraceSeconds = z
  .int()
  .min(0)
  .max(366 * 86_400)

/** From when on the duration of a license counts. */
export const StartsAt = z.enum(['issue', 'first_activation'])

/** A price at the card provider. Amounts are integer minor units, the currency a lower-case ISO 4217 code. */
export const Price = z.strictObject({
  priceId: z.string().min(1).max(255),
  verified: z.boolean().meta({
    description: 'Whether the provider reported it. The fields below are null until it has',
    example: true,
  }),
  unitAmount: z
    .int()
    .nonnegative()
    .nullable()
    .meta({ description: 'The price of one unit in minor units, such as cents', example: 4900 }),
  currency: z.string().length(3).nullable().meta({ description: 'ISO 4217 in lower case', example: 'usd' }),
  interval: z
    .string()
    .nullable()
    .meta({ description: 'How often it is paid, such as `month` or `year`; null if once', example: 'year' }),
  verifiedAt: Moment.nullable(),
})
export type Price = z.infer<typeof Price>

/** `null` means unlimited for a device limit or a maximum quantity, and perpetual for a duration. */
export const DeviceLimit = z.int().min(1).max(100_000)

/** Whether licenses may be used on machines without a network, with a signed file. */
export const OfflineFiles = z.strictObject({
  maxDays: z.int().min(1).max(36_500).meta({
    description: 'How many days a license file is good at most',
    example: 365,
  }),
  perSeatPerYear: z.int().min(1).max(366).meta({
    description:
      'How many license files a device may have within 365 days, and a license for each of its seats',
    example: 4,
  }),
})
export type OfflineFiles = z.infer<typeof OfflineFiles>

/** How long a floating seat lasts at most without a sign of life. */
const seatSeconds = z
  .int()
  .min(60)
  .max(90 * 86_400)

/** Seats that a device, a process or a person has only while it uses them. */
export const FloatingSeats = z
  .strictObject({
    seatSeconds: seatSeconds.meta({
      description: 'How long a seat lasts after the last call of its device, in seconds',
      example: 600,
    }),
    overdraft: z
      .union([
        z.strictObject({
          seats: z
            .int()
            .min(1)
            .max(100_000)
            .meta({ description: 'How many seats above the limit', example: 2 }),
        }),
        z.strictObject({
          share: z.number().gt(0).max(1).meta({ description: 'A share of the limit', example: 0.1 }),
        }),
      ])
      .nullable()
      .meta({
        description:
          'How many seats may be taken above the limit: a number, or a share of the limit, rounded down. null for none',
        example: { share: 0.1 },
      }),
    scope: z.enum(['device', 'process', 'user']).meta({
      description:
        'What takes a seat: a `device`; each `process`, such as of a render farm; or a `user`, on any number of devices',
      example: 'device',
    }),
    relays: z
      .strictObject({
        maxDays: z.int().min(1).max(366).meta({
          description: 'How many days a relay may go on without renewal at most',
          example: 30,
        }),
      })
      .optional()
      .meta({
        description:
          "Whether relays inside a customer's network may give out seats. Licenses follow their key type in this. Absent when not",
        example: { maxDays: 30 },
      }),
    maxBorrowDays: z.int().min(1).max(366).optional().meta({
      description:
        'For how many days a device may borrow its seat, to go on without a network. Absent where seats cannot be borrowed',
      example: 14,
    }),
    maxBorrowed: z.int().min(1).max(1000).optional().meta({
      description: 'How many seats may be borrowed at once; with `maxBorrowDays`',
      example: 3,
    }),
  })
  .refine(
    ({ maxBorrowDays, maxBorrowed }) => (maxBorrowDays === undefined) === (maxBorrowed === undefined),
    'must have both of maxBorrowDays and maxBorrowed, or neither',
  )
  .refine(
    ({ maxBorrowDays, scope }) => maxBorrowDays === undefined || scope === 'device',
    'must have the scope device for seats that can be borrowed',
  )
export type FloatingSeats = z.infer<typeof FloatingSeats>

/** Seats that people have, each for devices of their own. */
export const NamedSeats = z.strictObject({
  devicesPerPerson: z
    .int()
    .min(1)
    .max(100)
    .meta({ description: 'How many devices a person may use at once', example: 2 }),
  reassignEveryDays: z.int().min(0).max(366).meta({
    description:
      'For how many days after a person was given a seat no other person may be given it by the customer; 0 for none',
    example: 30,
  }),
})
export type NamedSeats = z.infer<typeof NamedSeats>

/** A template of a license: the rules that a license copies when it is issued. */
export const KeyType = z.strictObject({
  keyTypeId: Slug,
  name: z.string().min(1).max(200),
  deviceLimit: DeviceLimit.nullable(),
  duration: Duration.nullable(),
  onExpiry: OnExpiry,
  entitlements: Entitlements,
  fallbackEntitlements: Entitlements,
  entitlementValues: EntitlementValues.optional(),
  price: Price.nullable(),
  sellInMultiples: z.boolean(),
  maxQuantity: z.int().min(1).max(100_000).nullable(),
  /** Absent means at the issue. */
  startsAt: StartsAt.optional(),
  /** How long a license stays active after its expiry; absent means not at all. */
  graceSeconds: GraceSeconds.optional(),
  /** For how long after its issue, or a payment, a license covers new builds; absent or null for every build. */
  updates: Duration.nullable().optional(),
  /** Absent or null where no license files are allowed. */
  offlineFiles: OfflineFiles.nullable().optional(),
  /** Absent or null where a device keeps its seat until it gives it back. */
  floatingSeats: FloatingSeats.nullable().optional(),
  /** Absent or null where the seats are of devices. */
  namedSeats: NamedSeats.nullable().optional(),
  /** Absent or empty where nothing is metered. Licenses have the meters of their key type as they are now. */
  meters: MetersOfKeyType.optional(),
})
export type KeyType = z.infer<typeof KeyType>

/** A key type as it is recorded: a setting that was never used, or is removed, is absent. */
export function withoutUnset({
  updates,
  offlineFiles,
  floatingSeats,
  namedSeats,
  meters,
  startsAt,
  graceSeconds,
  ...keyType
}: KeyType): KeyType {
  return {
    ...keyType,
    ...(updates && { updates }),
    ...(offlineFiles && { offlineFiles }),
    ...(floatingSeats && { floatingSeats }),
    ...(namedSeats && { namedSeats }),
    ...(meters && meters.length > 0 && { meters }),
    ...(startsAt === 'first_activation' && { startsAt }),
    ...(graceSeconds && { graceSeconds }),
  }
}

/**
 * The key type of a product that is created without any, since a product always has one: one device,
 * perpetual.
 */
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
