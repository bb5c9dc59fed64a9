import { z } from 'zod'
import type { ResellerEntry } from '../../../projections/resellers.ts'
import { requireReseller, closeReseller as runClosing } from '../../commands/resellers/resellers.ts'
import { quoted } from '../../domain/plain-text.ts'
import { Refusal } from '../../domain/refusal.ts'
import { streamName } from '../../domain/streams.ts'
import { gatedOperation } from '../operation.ts'

export const resellerId = z.string().meta({
  description: 'The id of the reseller',
  example: 'rsl_06f5w3k8hx7vq2m4n9t1r0s5zc',
})

const input = z.object({ params: z.strictObject({ id: resellerId }) })

export const closeReseller = gatedOperation({
  name: 'reseller.close',
  title: 'Close a reseller',
  method: 'POST',
  path: '/v1/resellers/{id}/close',
  scope: 'customers:write',
  input,
  async check(ports, tenantId, { params }) {
    const { reseller } = await requireReseller(ports, tenantId, params.id)
    if (reseller.status === 'closed') throw new Refusal('reseller_closed')
  },
  async describe(ports, tenantId, { params }) {
    const { reseller } = await requireReseller(ports, tenantId, params.id)
    return {
      summary: `Close the reseller ${quoted(reseller.name)} (${reseller.resellerId})`,
      state: { status: reseller.status },
    }
  },
  facts: async (_, __, { params }) => [
    { what: 'recorded', stream: streamName('reseller', params.id), events: ['ResellerClosed'] },
  ],
  run: (ports, tenantId, { params }, { origin }): Promise<ResellerEntry> =>
    runClosing(ports, tenantId, params.id, origin),
})
