import { z } from 'zod'
import { Moment } from '../values.ts'

/** By what a license looks shared. A published key needs no rule of its product: its vendor says that it was found. */
export const sharingRules = ['networks', 'countries', 'hops', 'published_key'] as const
export const SharingRule = z.enum(sharingRules)
export type SharingRule = z.infer<typeof SharingRule>

/** What is recorded on a license about sharing. */
export const sharingEvents = [
  /** It was used beyond a rule of its product, or its key was found published. Once a day for each rule at most. */
  z.object({
    type: z.literal('LicenseSharingNoticed'),
    data: z.strictObject({
      rule: SharingRule,
      count: z.int().min(1),
      /** What the rule allows; null for a published key. */
      limit: z.int().min(1).nullable(),
      /** In UTC. */
      day: z.iso.date(),
      /** `suspend`: the notice suspended the license, which is recorded with it. */
      action: z.enum(['show', 'suspend']),
      at: Moment,
    }),
  }),
  /** A person decided that the use of the license is fine, and no rule notices it; or that rules notice it again. */
  z.object({
    type: z.literal('LicenseSharingAllowed'),
    data: z.strictObject({ allowed: z.boolean(), reason: z.string().nullable(), at: Moment }),
  }),
] as const
