import { z } from 'zod'
import { LanguageTag } from '../portal/languages.ts'
import { Duration, FloatingSeats, GraceSeconds, NamedSeats, OnExpiry } from '../products/key-type.ts'
import { Metadata, Moment, Sealed, Slug } from '../values.ts'
import { deviceEvents } from './device-events.ts'
import { KeyHash, StoredKeyHash } from './keys.ts'
import { namedEvents } from './named-events.ts'
import { relayEvents } from './relay-events.ts'
import { sharingEvents } from './sharing-events.ts'
import { usageEvents } from './usage-events.ts'

/** The person that a license is for, sealed: destroying the subject's key makes it permanently unreadable. */
export const Holder = z.strictObject({
  subjectId: z.string().min(1),
  email: Sealed.nullable(),
  name: Sealed.nullable(),
})
export type Holder = z.infer<typeof Holder>

/** The term that starts at the first activation, while no device was activated; absent when nothing waits for one. */
const startsWith = Duration.optional()

/** How long it stays active after its expiry; absent means not at all. */
const graceSeconds = GraceSeconds.optional()

/** Whether its holder is told by mail; absent means no. */
const toldByMail = z.literal(true).optional()

/** The end of the grace of the expiry that is recorded; absent for one without a grace. */
const graceUntil = Moment.optional()

/** Whether it belongs to the customer because its holder has their address; absent when a person linked it. */
const byAddress = z.literal(true).optional()

/**
 * The terms of a license at its issue: a copy of its key type's rules, which later changes of the key type do
 * not affect.
 */
export const LicenseTerms = z.strictObject({
  licenseId: z.string().min(1),
  tenantId: Slug,
  productId: Slug,
  keyTypeId: Slug,
  keyHash: StoredKeyHash,
  displayKey: z.string().min(1),
  quantity: z.int().min(1),
  deviceLimit: z.int().min(1).nullable(),
  expiresAt: Moment.nullable(),
  startsWith,
  onExpiry: OnExpiry,
  graceSeconds,
  holder: Holder.nullable(),
  customerId: z.string().nullable(),
  byAddress,
  source: z.enum(['api', 'import', 'sale', 'test']),
  saleId: z.string().nullable(),
  test: z.boolean(),
  metadata: Metadata,
  createdAt: Moment,
  /** The last moment of a build that it covers; absent when it covers every build. */
  updatesUntil: Moment.optional(),
  /** Absent when its devices keep their seats until they give them back. */
  floating: FloatingSeats.optional(),
  /** Absent when its seats are of devices. */
  named: NamedSeats.optional(),
  at: Moment,
})
export type LicenseTerms = z.infer<typeof LicenseTerms>

/** What a sale entitles to at a moment, whether or not its vendor has given the license other terms. */
export const SoldTerms = z.strictObject({
  keyTypeId: Slug,
  quantity: z.int().min(1),
  expiresAt: Moment.nullable(),
  startsWith,
})
export type SoldTerms = z.infer<typeof SoldTerms>

/** Why a license was revoked, which decides what can undo it. */
export const RevocationCause = z.enum(['person', 'refund', 'dispute', 'import_undone'])
export type RevocationCause = z.infer<typeof RevocationCause>

const reasoned = z.strictObject({ reason: z.string().nullable(), at: Moment })

/** Everything a `license-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const LicenseEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('LicenseMinted'), data: LicenseTerms }),
  z.object({ type: z.literal('LicenseImported'), data: LicenseTerms }),
  ...deviceEvents,
  /**
   * A file was signed with which the device may go on without a network until `endsAt`. It asked for it with its own key
   * (Ed25519, base64url).
   */
  z.object({
    type: z.literal('LicenseFileIssued'),
    data: z.strictObject({
      fileId: z.string().min(1),
      deviceId: z.string().min(1),
      instanceId: z.string().min(1),
      keyHash: StoredKeyHash,
      deviceKey: z.string().min(1),
      nonce: z.string().min(1),
      counter: z.int().min(1),
      serial: z.int().min(1),
      endsAt: Moment,
      at: Moment,
    }),
  }),
  /** The device gave its file back, signed by its key. Its seat is freed with it. */
  z.object({
    type: z.literal('LicenseFileReleased'),
    data: z.strictObject({
      fileId: z.string().min(1),
      deviceId: z.string().min(1),
      instanceId: z.string().min(1),
      at: Moment,
    }),
  }),
  /** A taker was refused for want of a floating seat: recorded at most once an hour. */
  z.object({
    type: z.literal('SeatsExhausted'),
    data: z.strictObject({
      /** How many were taken, with those above the limit. */
      seats: z.int().min(1),
      /** How many takers waited for one. */
      waiting: z.int().min(1),
      mail: toldByMail,
      at: Moment,
    }),
  }),
  ...usageEvents,
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
      /** Free text of a person. Nothing is derived from it. */
      reason: z.string().nullable(),
      /**
       * null for a revocation that was recorded without a cause and whose reason does not show it: see
       * `causeOfRevocation`.
       */
      cause: RevocationCause.nullable(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('CustomerLinked'),
    data: z.strictObject({
      customerId: z.string().min(1),
      byAddress,
      /** The customer that it belonged to before merges moved it; or it belongs to that one again. */
      mergedFrom: z.string().min(1).optional(),
      unmerged: z.literal(true).optional(),
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('CustomerUnlinked'),
    data: z.strictObject({ customerId: z.string().min(1), at: Moment }),
  }),
  /** Its term has started with its first activation, which is recorded with it. */
  z.object({
    type: z.literal('LicenseStarted'),
    data: z.strictObject({
      expiresAt: Moment,
      /** What its sale entitled to then; null without a sale. */
      sold: SoldTerms.nullable(),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('LicenseRenewed'), data: z.strictObject({ expiresAt: Moment, at: Moment }) }),
  /** A payment for its renewal failed: recorded once for each payment, whatever its number of attempts. It goes on until its end. */
  z.object({
    type: z.literal('LicenseRenewalFailed'),
    data: z.strictObject({
      saleId: z.string().min(1),
      /** The provider's id of the payment. */
      paymentId: z.string().min(1),
      /** How many attempts had failed; null where the provider does not tell. */
      attempt: z.int().min(1).nullable(),
      /** null where the provider does not tell, and after the last attempt. */
      nextAttemptAt: Moment.nullable(),
      mail: toldByMail,
      at: Moment,
    }),
  }),
  /** Its end is near: a notice that the vendor or a webhook wanted so many days before it. */
  z.object({
    type: z.literal('LicenseExpiring'),
    data: z.strictObject({ expiresAt: Moment, daysBefore: z.int().min(1), mail: toldByMail, at: Moment }),
  }),
  z.object({
    type: z.literal('LicenseExpired'),
    data: z.strictObject({ expiresAt: Moment, graceUntil, mail: toldByMail, at: Moment }),
  }),
  z.object({
    type: z.literal('LicenseFellBack'),
    data: z.strictObject({ expiresAt: Moment, graceUntil, mail: toldByMail, at: Moment }),
  }),
  /**
   * A payment was returned: refunded in full, or lost in a dispute. A revocation for that is a separate
   * event.
   */
  z.object({
    type: z.literal('LicenseRefunded'),
    data: z.strictObject({
      saleId: z.string().min(1),
      /** Which of the sale's payments; null for events from before payments were distinguished. */
      payment: z.string().min(1).nullable(),
      cause: z.enum(['refund', 'dispute']),
      /** The amount of this refund. */
      amount: z.int().min(0),
      /** The total amount that was returned for the sale. */
      totalRefunded: z.int().min(0),
      currency: z.string().min(1),
      /** Whether any payment for the license is left. */
      paidLeft: z.boolean(),
      at: Moment,
    }),
  }),
  /**
   * The license is paid for after all. If any payment is left, a revocation for a refund or a dispute ends.
   */
  z.object({
    type: z.literal('LicenseReinstated'),
    data: z.strictObject({
      saleId: z.string().min(1),
      /** The payments that are no longer returned; empty if another payment was made instead. */
      payments: z.array(z.string().min(1)),
      paidLeft: z.boolean(),
      at: Moment,
    }),
  }),
  /**
   * Its subscription was changed, or its expiry moved other than by a renewal. Holds all terms of the license
   * from now on.
   */
  z.object({
    type: z.literal('LicenseTermsChanged'),
    data: z.strictObject({
      saleId: z.string().min(1),
      keyTypeId: Slug,
      quantity: z.int().min(1),
      deviceLimit: z.int().min(1).nullable(),
      onExpiry: OnExpiry,
      graceSeconds,
      expiresAt: Moment.nullable(),
      startsWith,
      /** Absent when it is as before. */
      updatesUntil: Moment.optional(),
      at: Moment,
    }),
  }),
  /** A later payment of its sale extended the period of its updates. */
  z.object({
    type: z.literal('UpdatesExtended'),
    data: z.strictObject({ saleId: z.string().min(1), updatesUntil: Moment, at: Moment }),
  }),
  /**
   * Its subscription has ended: it expires at the end of the paid period. Before, it may have had no expiry.
   */
  z.object({ type: z.literal('SubscriptionEnded'), data: z.strictObject({ expiresAt: Moment, at: Moment }) }),
  /**
   * It reflects the first `through` facts of its sale. A process that knows fewer facts changes nothing any
   * more.
   */
  z.object({
    type: z.literal('SaleFollowed'),
    data: z.strictObject({
      saleId: z.string().min(1),
      through: z.int().min(1),
      /** null for events from before vendors could change a license: the license's own terms. */
      sold: SoldTerms.nullable(),
      /** Up to when payments are counted in the period of its updates; absent when it covers every build. */
      updatesPaidAt: Moment.optional(),
      at: Moment,
    }),
  }),
  /** The person that it is for was erased. The license is otherwise unchanged. */
  z.object({ type: z.literal('HolderErased'), data: z.strictObject({ at: Moment }) }),
  /** Its vendor changed it. Holds everything that a vendor can change, as it is from now on. */
  z.object({
    type: z.literal('LicenseEdited'),
    data: z.strictObject({
      keyTypeId: Slug,
      quantity: z.int().min(1),
      deviceLimit: z.int().min(1).nullable(),
      onExpiry: OnExpiry,
      graceSeconds,
      expiresAt: Moment.nullable(),
      startsWith,
      holder: Holder.nullable(),
      metadata: Metadata,
      /** Absent when it is as before; null covers every build. */
      updatesUntil: Moment.nullable().optional(),
      /** What its sale entitled to then; null without a sale. */
      sold: SoldTerms.nullable(),
      reason: z.string().nullable(),
      at: Moment,
    }),
  }),
  /** It is not valid until it is resumed. Its expiry does not wait for that. */
  z.object({ type: z.literal('LicenseSuspended'), data: reasoned }),
  z.object({ type: z.literal('LicenseResumed'), data: reasoned }),
  /** Why a person made the change that was recorded with it, where that change has no reason of its own. */
  z.object({
    type: z.literal('ReasonGiven'),
    data: z.strictObject({ reason: z.string().min(1), at: Moment }),
  }),
  /** Its present key is to be sent to its holder by mail. The key itself is sealed in the vault. */
  z.object({
    type: z.literal('KeyMailAsked'),
    data: z.strictObject({
      keyHash: StoredKeyHash,
      /** The language of the page on which the customer asked for it. */
      language: LanguageTag.optional(),
      at: Moment,
    }),
  }),
  /**
   * The customer freed the seat in the portal; recorded with `DeviceDeactivated`. Counts toward what the product
   * allows within 30 days.
   */
  z.object({
    type: z.literal('SeatFreedByCustomer'),
    data: z.strictObject({ deviceId: z.string().min(1), at: Moment }),
  }),
  /** The customer named a device in the portal; null returns to the name that the app reported. */
  z.object({
    type: z.literal('DeviceNamed'),
    data: z.strictObject({
      deviceId: z.string().min(1),
      name: z.strictObject({ subjectId: z.string().min(1), text: Sealed }).nullable(),
      at: Moment,
    }),
  }),
  /** A revocation was undone. */
  z.object({ type: z.literal('RevocationUndone'), data: reasoned }),
  /** Its import was undone: the license is revoked, and its key may be imported again, as another license. */
  z.object({ type: z.literal('ImportTakenBack'), data: reasoned }),
  ...relayEvents,
  ...namedEvents,
  ...sharingEvents,
])
export type LicenseEvent = z.infer<typeof LicenseEvent>
