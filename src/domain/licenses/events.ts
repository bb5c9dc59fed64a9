import { z } from 'zod'
import { OnExpiry } from '../products/key-type.ts'
import { Metadata, Moment, Sealed, Slug } from '../values.ts'

const KeyHash = z.string().regex(/^[0-9a-f]{64}$/)

/** The person a license is for, in sealed form: erase the subject's key and this is unreadable for good. */
export const Holder = z.strictObject({
  subjectId: z.string().min(1),
  email: Sealed.nullable(),
  name: Sealed.nullable(),
})
export type Holder = z.infer<typeof Holder>

/** What a license is when it is issued: its key type's rules, taken over once and then its own. */
export const LicenseTerms = z.strictObject({
  licenseId: z.string().min(1),
  tenantId: Slug,
  productId: Slug,
  keyTypeId: Slug,
  keyHash: KeyHash,
  displayKey: z.string().min(1),
  quantity: z.int().min(1),
  deviceLimit: z.int().min(1).nullable(),
  expiresAt: Moment.nullable(),
  onExpiry: OnExpiry,
  holder: Holder.nullable(),
  customerId: z.string().nullable(),
  source: z.enum(['api', 'import', 'sale', 'test']),
  saleId: z.string().nullable(),
  test: z.boolean(),
  metadata: Metadata,
  createdAt: Moment,
  at: Moment,
})
export type LicenseTerms = z.infer<typeof LicenseTerms>

/**
 * A device in a seat. `deviceId` is the caller's own name for it on the token interface; a device that an app
 * activates itself goes by its `instanceId`, and `installId` is the anonymous id it had before.
 */
const Activation = z.strictObject({
  deviceId: z.string().min(1),
  instanceId: z.string().min(1),
  installId: z.string().min(1).nullable(),
  name: z.string(),
  platform: z.string().nullable(),
  at: Moment,
})

/** Why a license was revoked, which decides what can undo it. */
export const RevocationCause = z.enum(['person', 'refund', 'dispute', 'import_undone'])
export type RevocationCause = z.infer<typeof RevocationCause>

/** Everything a `license-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const LicenseEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('LicenseMinted'), data: LicenseTerms }),
  z.object({ type: z.literal('LicenseImported'), data: LicenseTerms }),
  z.object({ type: z.literal('DeviceActivated'), data: Activation }),
  z.object({
    type: z.literal('DeviceDeactivated'),
    data: z.strictObject({ deviceId: z.string().min(1), instanceId: z.string().min(1), at: Moment }),
  }),
  z.object({
    type: z.literal('LicenseReminted'),
    data: z.strictObject({
      keyHash: KeyHash,
      displayKey: z.string().min(1),
      keepDevices: z.boolean(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('LicenseRevoked'),
    data: z.strictObject({
      /** In a person's own words. Nothing follows from it. */
      reason: z.string().nullable(),
      /** null where it was recorded without one and the reason does not tell: see `causeOfRevocation`. */
      cause: RevocationCause.nullable(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('CustomerLinked'),
    data: z.strictObject({ customerId: z.string().min(1), at: Moment }),
  }),
  z.object({ type: z.literal('LicenseRenewed'), data: z.strictObject({ expiresAt: Moment, at: Moment }) }),
  z.object({ type: z.literal('LicenseExpired'), data: z.strictObject({ expiresAt: Moment, at: Moment }) }),
  z.object({ type: z.literal('LicenseFellBack'), data: z.strictObject({ expiresAt: Moment, at: Moment }) }),
  /** The money of a payment went back: in full, or in a dispute that was lost. Whether it is revoked for that is another event. */
  z.object({
    type: z.literal('LicenseRefunded'),
    data: z.strictObject({
      saleId: z.string().min(1),
      /** Which of the sale's payments; null where payments were not distinguished yet. */
      payment: z.string().min(1).nullable(),
      cause: z.enum(['refund', 'dispute']),
      /** This refund. */
      amount: z.int().min(0),
      /** Everything that went back of the sale. */
      totalRefunded: z.int().min(0),
      currency: z.string().min(1),
      /** Whether anything that was paid for the license is left. */
      paidLeft: z.boolean(),
      at: Moment,
    }),
  }),
  /** Money is there after all. If anything that was paid is left, a revocation for a refund or a dispute ends. */
  z.object({
    type: z.literal('LicenseReinstated'),
    data: z.strictObject({
      saleId: z.string().min(1),
      /** The payments whose money is back; empty where another payment was made instead. */
      payments: z.array(z.string().min(1)),
      paidLeft: z.boolean(),
      at: Moment,
    }),
  }),
  /** Its subscription was changed, or its end moved otherwise than by a renewal. All of its terms, as they are from now on. */
  z.object({
    type: z.literal('LicenseTermsChanged'),
    data: z.strictObject({
      saleId: z.string().min(1),
      keyTypeId: Slug,
      quantity: z.int().min(1),
      deviceLimit: z.int().min(1).nullable(),
      onExpiry: OnExpiry,
      expiresAt: Moment.nullable(),
      at: Moment,
    }),
  }),
  /** Its subscription has ended: it runs until the end of what is paid, which may have been without an end before. */
  z.object({ type: z.literal('SubscriptionEnded'), data: z.strictObject({ expiresAt: Moment, at: Moment }) }),
  /** It is as the first `through` facts of its sale want it; whoever knows fewer of them changes nothing any more. */
  z.object({
    type: z.literal('SaleFollowed'),
    data: z.strictObject({ saleId: z.string().min(1), through: z.int().min(1), at: Moment }),
  }),
  /** The person whom it is for was erased. The license stays what it is. */
  z.object({ type: z.literal('HolderErased'), data: z.strictObject({ at: Moment }) }),
  /** Somebody revoked it, and it was made good. */
  z.object({
    type: z.literal('RevocationUndone'),
    data: z.strictObject({ reason: z.string().nullable(), at: Moment }),
  }),
  /** It should not have been imported: it is revoked, and its key may be imported anew, as another license. */
  z.object({
    type: z.literal('ImportTakenBack'),
    data: z.strictObject({ reason: z.string().nullable(), at: Moment }),
  }),
])
export type LicenseEvent = z.infer<typeof LicenseEvent>
