import type { FastifyInstance } from 'fastify'
import { countActiveDevices } from '../../../projections/licenses/active-devices.ts'
import { listProducts } from '../../../projections/products/queries.ts'
import { momentOf } from '../../commands/services.ts'
import { may } from '../../domain/member/roles.ts'
import { listApprovals } from '../../gate/approvals.ts'
import { usageRange } from '../../usage/range.ts'
import { readUsage } from '../../usage/read.ts'
import type { Rooms } from './rooms.ts'
import { signedOf } from './signed.ts'
import { overviewView } from './views/overview.ts'

/** The first page: what waits for somebody, and how much is going on. */
export function overviewPage(app: FastifyInstance, { services, show }: Rooms): void {
  app.get('/', { config: { page: 'member' }, schema: { hide: true } }, async (request, reply) => {
    const { tenantId, role } = signedOf(request)
    const range = usageRange({ granularity: 'day' }, momentOf(services))
    if (typeof range === 'string') throw new Error(`the last days are no range: ${range}`)
    await services.usage.flush()
    const [approvals, usage, devices, products] = await Promise.all([
      listApprovals(services, tenantId),
      readUsage(services.db, tenantId, undefined, range),
      countActiveDevices(services.db, tenantId),
      listProducts(services.db, tenantId, { after: undefined, limit: 1 }),
    ])
    return show(reply, {
      title: 'Overview',
      nav: 'overview',
      content: (view) =>
        overviewView(view, {
          approvals,
          mayDecide: may(role, 'decide_confirmations'),
          usage,
          devices,
          isNew: products.items.length === 0,
          mayManageTokens: may(role, 'manage_tokens'),
        }),
    })
  })
}
