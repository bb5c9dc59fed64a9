import { z } from 'zod'
import { Moment, Sealed, Slug } from '../values.ts'

export const Role = z.enum(['owner', 'approver', 'support', 'auditor'])
export type Role = z.infer<typeof Role>

/** Everything a `member-<id>` stream may hold: the people of a tenant. */
export const MemberEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('MemberAdded'),
    data: z.strictObject({
      memberId: z.string().min(1),
      tenantId: Slug,
      role: Role,
      subjectId: z.string().min(1),
      email: Sealed,
      at: Moment,
    }),
  }),
])
export type MemberEvent = z.infer<typeof MemberEvent>
