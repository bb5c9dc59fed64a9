import { z } from 'zod'
import { keyTypeId, page, productId } from '../arguments.ts'
import { tool } from '../tool.ts'

const resellerId = z.string().min(1).max(100).describe('The id of a reseller, as list_resellers shows it')

/** Resellers and what they may mint. */
export const resellerTools = [
  tool({
    name: 'list_resellers',
    operation: 'listResellers',
    title: 'List resellers',
    description: 'Returns the resellers, newest first, with their quotas and how much of them is used.',
    effect: 'reads',
    input: page,
  }),
  tool({
    name: 'get_reseller',
    operation: 'getReseller',
    title: 'Read a reseller',
    description:
      'Returns a reseller with the quotas and how much of them is used. A reseller reads their own.',
    effect: 'reads',
    input: { resellerId },
    names: { resellerId: 'id' },
  }),
  tool({
    name: 'update_reseller',
    operation: 'updateReseller',
    title: 'Change the quotas of a reseller',
    description:
      'Changes the name or the quotas of a reseller. `quotas` replaces all of them, so read them first; none can be less than what is used.',
    effect: 'changes',
    input: {
      resellerId,
      name: z.string().min(1).max(200).optional(),
      quotas: z
        .array(z.strictObject({ productId, keyTypeId, licenses: z.int().min(0).max(1_000_000) }))
        .max(100)
        .optional()
        .describe('All quotas: how many licenses of each key type the reseller may mint in all'),
    },
    names: { resellerId: 'id' },
  }),
]
