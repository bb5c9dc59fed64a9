import { z } from 'zod'
import { LanguageTag } from '../portal/languages.ts'
import { Moment, Sealed, Slug } from '../values.ts'

/** What a person may do with the licenses and the people of their organization. */
export const OrganizationRole = z.enum(['administrator', 'member'])
export type OrganizationRole = z.infer<typeof OrganizationRole>

const personId = z.string().min(1)

/** What a `customer-<id>` stream holds of the people of an organization. A recorded shape is never edited: add a new type. */
export const organizationEvents = [
  /** The customer has people from now on; the first one is added with it. */
  z.object({ type: z.literal('OrganizationFormed'), data: z.strictObject({ at: Moment }) }),
  /** The customer is one person again, and its people have no access any more. */
  z.object({ type: z.literal('OrganizationDissolved'), data: z.strictObject({ at: Moment }) }),
  z.object({
    type: z.literal('PersonAdded'),
    data: z.strictObject({
      personId,
      tenantId: Slug,
      subjectId: z.string().min(1),
      email: Sealed,
      name: Sealed.nullable(),
      role: OrganizationRole,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('PersonRoleChanged'),
    data: z.strictObject({ personId, role: OrganizationRole, at: Moment }),
  }),
  /** Also when the person was erased. */
  z.object({ type: z.literal('PersonRemoved'), data: z.strictObject({ personId, at: Moment }) }),
  /** An invitation is to be mailed to the person. */
  z.object({
    type: z.literal('InvitationAsked'),
    data: z.strictObject({ personId, language: LanguageTag, at: Moment }),
  }),
  /** The mail server has taken it. */
  z.object({ type: z.literal('InvitationMailed'), data: z.strictObject({ personId, at: Moment }) }),
] as const
export type OrganizationEvent = z.infer<(typeof organizationEvents)[number]>
