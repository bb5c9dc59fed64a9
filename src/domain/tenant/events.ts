import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

export const Plan = z.enum(['free', 'team', 'unlimited'])
export type Plan = z.infer<typeof Plan>

/** Everything a `tenant-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const TenantEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('TenantCreated'),
    data: z.strictObject({ tenantId: Slug, name: z.string().min(1), plan: Plan, at: Moment }),
  }),
  z.object({
    type: z.literal('TenantSuspended'),
    data: z.strictObject({ reason: z.string().nullable(), at: Moment }),
  }),
  z.object({ type: z.literal('TenantReinstated'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('TenantClosed'),
    data: z.strictObject({ reason: z.string().nullable(), at: Moment }),
  }),
])
export type TenantEvent = z.infer<typeof TenantEvent>
