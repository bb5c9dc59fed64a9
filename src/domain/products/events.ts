import { z } from 'zod'
import { fewestComponents, maxComponents } from '../licenses/marks.ts'
import { Moment, Slug } from '../values.ts'
import { DeviceMail } from './device-mails.ts'
import { KeySharing } from './key-sharing.ts'
import { KeyType, Price } from './key-type.ts'
import { maxReleases, Release } from './releases.ts'

export const KeyPrefix = z.string().regex(/^[A-Z0-9]{2,8}$/, 'must be 2 to 8 uppercase letters and digits')

export const ProductSettings = z.strictObject({
  freeTierEnabled: z.boolean(),
  trialDurationDays: z.int().min(0).max(3650).optional().meta({
    description:
      'Days that a new install may run without a license; 0 means trials are off. Absent if never configured',
    example: 14,
  }),
  testMode: z
    .strictObject({
      enabled: z.boolean().meta({
        description: 'Whether test notifications of the providers take effect',
        example: false,
      }),
      publishableKey: z
        .string()
        .optional()
        .meta({ description: "The publishable key of Stripe's test checkout; absent without one" }),
    })
    .meta({ description: 'Whether the product is in test mode' }),
  leaseSeconds: z.int().min(60).max(31_536_000).meta({
    description: 'How long an app may rely on an answer while it is offline, in seconds',
    example: 1_209_600,
  }),
  revalidateAfterSeconds: z.int().min(1).max(31_536_000).meta({
    description:
      'How long a server may rely on an answer of validate, in seconds; it is in `revalidate_after`',
    example: 3600,
  }),
  onRefund: z.enum(['revoke', 'keep']).meta({
    description: 'What the refund of a whole sale does to its license',
    example: 'revoke',
  }),
  onPaidInFull: z
    .enum(['by_key_type', 'keep', 'expire'])
    .meta({
      description:
        'What the end of a subscription does to its license once all of a fixed number of payments were made: ' +
        'by its key type, a perpetual license stays and another one expires with the last period. Absent means by its key type',
      example: 'by_key_type',
    })
    .optional(),
  keyRecovery: z.boolean().meta({
    description:
      'Whether the key of a license with an email address is kept sealed from now on, so that it can be mailed there again. false destroys the kept keys',
    example: true,
  }),
  deviceMatch: z
    .strictObject({
      atLeast: z.int().min(fewestComponents).max(maxComponents).meta({
        description: 'How many components must be equal',
        example: 3,
      }),
    })
    .meta({
      description:
        'When a device without a known machine hash is the same by its components; absent means that more than half of those that both sides have are equal',
    })
    .optional(),
  expiringNotice: z
    .strictObject({
      days: z
        .array(z.int().min(1).max(366))
        .min(1)
        .max(10)
        .meta({ description: 'How many days before the expiry. A set', example: [14, 3] }),
    })
    .meta({
      description:
        'How many days before its expiry the holder of a license gets an email. They also get one at the end itself, and when the payment for a renewal fails. Absent means no emails',
    })
    .optional(),
  usageNotice: z
    .boolean()
    .meta({
      description:
        'Whether the holder of a license gets an email at the thresholds of its meters. Absent means not',
      example: true,
    })
    .optional(),
  deviceMails: z
    .array(DeviceMail)
    .min(1)
    .max(DeviceMail.options.length)
    .meta({
      description:
        'What the holder of a license is told by mail about its devices: that one was added (`new_device`), that it has no seat left (`seats_full`). A set; absent means nothing',
      example: ['seats_full'],
    })
    .optional(),
  keySharing: KeySharing.meta({
    description: 'When a license looks shared; absent means that nothing is counted',
  }).optional(),
  customerSeatFrees: z
    .int()
    .min(0)
    .max(100)
    .meta({
      description: 'How many seats a customer may free in the portal within 30 days; absent means 3',
      example: 3,
    })
    .optional(),
  customerKeyReplacement: z
    .boolean()
    .meta({
      description: 'Whether a customer may replace the key of a license in the portal; absent means no',
      example: false,
    })
    .optional(),
  customerFiles: z
    .boolean()
    .meta({
      description:
        'Whether a customer may get license files for machines without a network in the portal, where the key type allows them; absent means no',
      example: false,
    })
    .optional(),
  showSeatHolders: z
    .boolean()
    .meta({
      description:
        'Whether a device that finds all floating seats taken is told the names of the devices that have them; absent means no',
      example: false,
    })
    .optional(),
  leaseHolder: z
    .boolean()
    .meta({
      description:
        'Whether `lease2` and license files name the holder of the license, so that an app can show whom it is licensed to; absent means no',
      example: false,
    })
    .optional(),
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
  /** Its releases from now on, newest first. */
  z.object({
    type: z.literal('ReleasesListed'),
    data: z.strictObject({ releases: z.array(Release).max(maxReleases), at: Moment }),
  }),
])
export type ProductEvent = z.infer<typeof ProductEvent>
