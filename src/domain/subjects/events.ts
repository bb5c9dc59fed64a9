import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

/** How much of somebody was found and made unreadable. */
export const Erased = z.strictObject({
  licenses: z.int().nonnegative(),
  customers: z.int().nonnegative(),
  sales: z.int().nonnegative(),
  /** Notifications of payment providers that the vault had kept as they came. */
  notifications: z.int().nonnegative(),
  mails: z.int().nonnegative(),
})
export type Erased = z.infer<typeof Erased>

/** Everything a `subject-<tenant>.<id>` stream may hold: that a person is erased. A recorded shape is never edited: add a new type. */
export const SubjectEvent = z.discriminatedUnion('type', [
  /** The intent: whoever goes on with it, after whatever crash, makes everything of this person unreadable. */
  z.object({
    type: z.literal('ErasureBegun'),
    data: z.strictObject({ tenantId: Slug, subjectId: z.string().min(1), at: Moment }),
  }),
  /** Nothing of the person can be read any more. */
  z.object({ type: z.literal('SubjectErased'), data: Erased.extend({ at: Moment }) }),
])
export type SubjectEvent = z.infer<typeof SubjectEvent>
