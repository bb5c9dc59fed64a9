import { z } from 'zod'
import { MetersOfCustomer } from '../meters/terms.ts'
import { organizationEvents } from '../organizations/events.ts'
import { Metadata, Moment, Sealed, Slug } from '../values.ts'
import { EntitlementOverride, maxOverrides } from './overrides.ts'

/** Everything a `customer-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const CustomerEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('CustomerCreated'),
    data: z.strictObject({
      customerId: z.string().min(1),
      tenantId: Slug,
      subjectId: z.string().min(1),
      email: Sealed,
      name: Sealed.nullable(),
      metadata: Metadata,
      /** The reseller whose customer it is; absent for a customer of the vendor. */
      resellerId: z.string().min(1).optional(),
      at: Moment,
    }),
  }),
  /** Another address makes the customer another person of the vault; the former one is erased together with it. */
  z.object({
    type: z.literal('CustomerChanged'),
    data: z.strictObject({
      subjectId: z.string().min(1),
      email: Sealed,
      name: Sealed.nullable(),
      metadata: Metadata,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('EntitlementOverridesReplaced'),
    data: z.strictObject({ overrides: z.array(EntitlementOverride).max(maxOverrides), at: Moment }),
  }),
  /** What the customer's licenses share of what is metered: all of it. */
  z.object({
    type: z.literal('CustomerMetersReplaced'),
    data: z.strictObject({ meters: MetersOfCustomer, at: Moment }),
  }),
  /** What a person wrote about the customer, sealed under the key of the customer's person. Who it was says the metadata. */
  z.object({
    type: z.literal('CustomerNoteAdded'),
    data: z.strictObject({
      noteId: z.string().min(1),
      tenantId: Slug,
      subjectId: z.string().min(1),
      text: Sealed,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('CustomerNoteRemoved'),
    data: z.strictObject({ noteId: z.string().min(1), at: Moment }),
  }),
  /** Another customer stands for this one from now on: its licenses move there one by one. */
  z.object({
    type: z.literal('CustomerMerged'),
    data: z.strictObject({ into: z.string().min(1), at: Moment }),
  }),
  /** The customer stands for itself again: its licenses move back. */
  z.object({
    type: z.literal('CustomerUnmerged'),
    data: z.strictObject({ into: z.string().min(1), at: Moment }),
  }),
  /** The person was erased. The customer's overrides stay, without their reasons, and their licenses and meters; not their notes. */
  z.object({ type: z.literal('CustomerErased'), data: z.strictObject({ at: Moment }) }),
  ...organizationEvents,
])
export type CustomerEvent = z.infer<typeof CustomerEvent>
