import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

export const Plan = z.enum(['free', 'team', 'unlimited'])
export type Plan = z.infer<typeof Plan>

/** A key by which callers of a tenant are known: its SHA-256, and a form for people. */
const clientKey = { keyHash: z.string().regex(/^[0-9a-f]{64}$/), displayKey: z.string().min(1), at: Moment }

/** Shipped inside apps and shown again on request, so it lies sealed in the vault, named by its operation. */
const SdkKey = z.strictObject({ ...clientKey, operationId: z.string().min(1) })

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
  /** Whether another member than the one who asks has to approve dangerous requests; not so before the first one. */
  z.object({
    type: z.literal('ApprovalRuleChanged'),
    data: z.strictObject({ anotherMember: z.boolean(), at: Moment }),
  }),
  z.object({ type: z.literal('SdkKeyIssued'), data: SdkKey }),
  z.object({ type: z.literal('SdkKeyRotated'), data: SdkKey }),
  z.object({ type: z.literal('CheckoutKeyIssued'), data: z.strictObject(clientKey) }),
  z.object({ type: z.literal('CheckoutKeyRotated'), data: z.strictObject(clientKey) }),
])
export type TenantEvent = z.infer<typeof TenantEvent>
