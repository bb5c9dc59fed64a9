import { z } from 'zod'
import { Moment, Sealed, Slug } from '../values.ts'
import { GivenRole, RecordedRole } from './roles.ts'

/** What a one-time link is for: the first sign-in, or a new one after all credentials were lost. */
export const LinkPurpose = z.enum(['invitation', 'recovery'])
export type LinkPurpose = z.infer<typeof LinkPurpose>

/** Why a member has no access for now: the directory deactivated them, or no group gives them a role. */
export const WithoutAccess = z.enum(['directory', 'no_role'])
export type WithoutAccess = z.infer<typeof WithoutAccess>

/**
 * Everything a `member-<id>` stream may hold: the people of a tenant. Credentials are never recorded here,
 * only that a link for setting them up was issued.
 */
export const MemberEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('MemberAdded'),
    data: z.strictObject({
      memberId: z.string().min(1),
      tenantId: Slug,
      role: RecordedRole,
      /** Of a person of a reseller; absent for one of the vendor's. */
      resellerId: z.string().min(1).optional(),
      subjectId: z.string().min(1),
      email: Sealed,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('MemberLinkIssued'),
    data: z.strictObject({ purpose: LinkPurpose, expiresAt: Moment, at: Moment }),
  }),
  z.object({ type: z.literal('MemberRoleChanged'), data: z.strictObject({ role: GivenRole, at: Moment }) }),
  /** A directory manages the member from now on; how it describes them is sealed. */
  z.object({ type: z.literal('MemberProvisioned'), data: z.strictObject({ profile: Sealed, at: Moment }) }),
  z.object({
    type: z.literal('MemberAddressChanged'),
    data: z.strictObject({ subjectId: z.string().min(1), email: Sealed, at: Moment }),
  }),
  z.object({
    type: z.literal('MemberDeactivated'),
    data: z.strictObject({ reason: WithoutAccess, at: Moment }),
  }),
  z.object({ type: z.literal('MemberReactivated'), data: z.strictObject({ at: Moment }) }),
  z.object({ type: z.literal('MemberRemoved'), data: z.strictObject({ at: Moment }) }),
])
export type MemberEvent = z.infer<typeof MemberEvent>
