import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

/** How much data of a person was made unreadable. */
export const Erased = z.strictObject({
  licenses: z.int().nonnegative(),
  customers: z.int().nonnegative(),
  sales: z.int().nonnegative(),
  /** Original notifications of payment providers in the vault. */
  notifications: z.int().nonnegative(),
  mails: z.int().nonnegative(),
})
export type Erased = z.infer<typeof Erased>

/**
 * Everything a `subject-<tenant>.<id>` stream may hold: the erasure of a person. A recorded shape is never
 * edited: add a new type.
 */
export const SubjectEvent = z.discriminatedUnion('type', [
  /**
   * The intent: any process that resumes the erasure after a crash makes all data of this person unreadable.
   */
  z.object({
    type: z.literal('ErasureBegun'),
    data: z.strictObject({ tenantId: Slug, subjectId: z.string().min(1), at: Moment }),
  }),
  /** The person's data can no longer be read. */
  z.object({ type: z.literal('SubjectErased'), data: Erased.extend({ at: Moment }) }),
])
export type SubjectEvent = z.infer<typeof SubjectEvent>
