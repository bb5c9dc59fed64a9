import { z } from 'zod'
import type { ResellerEntry } from '../../projections/resellers.ts'
import { Quota, Quotas, ResellerName } from '../domain/resellers/events.ts'
import { resellerId } from '../gate/operations/close-reseller.ts'
import { momentOut } from './schemas.ts'

/** The fields of a reseller that a vendor sets. */
export const resellerFields = {
  name: ResellerName.meta({ description: 'The name of the reseller', example: 'Northwind Software' }),
  quotas: Quotas.meta({
    description: 'What the reseller may mint: one quota for each key type',
    example: [{ productId: 'editor', keyTypeId: 'default', licenses: 50 }],
  }),
}

export const resellerOut = z
  .object({
    id: resellerId,
    name: resellerFields.name,
    status: z
      .enum(['open', 'closed'])
      .meta({ description: 'The tokens and members of a closed reseller reach nothing', example: 'open' }),
    quotas: z
      .array(
        z.object({
          ...Quota.shape,
          used: z.int().meta({
            description: 'How many were minted. Revoked and refunded licenses stay used',
            example: 12,
          }),
        }),
      )
      .meta({ description: 'What the reseller may mint, and what of it is used' }),
    createdAt: momentOut,
    closedAt: momentOut
      .nullable()
      .meta({ description: 'When it was closed; null while it is open', example: null }),
  })
  .meta({ id: 'Reseller', description: 'Who sells licenses to customers of their own, within quotas' })

/** The public form of a reseller. */
export function resellerView({ reseller }: ResellerEntry): z.infer<typeof resellerOut> {
  const { resellerId: id, name, status, quotas, createdAt, closedAt } = reseller
  return { id, name, status, quotas: [...quotas], createdAt, closedAt }
}
