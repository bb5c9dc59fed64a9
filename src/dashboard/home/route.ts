import type { FastifyInstance } from 'fastify'
import { countDeliveries } from '../../../projections/deliveries/counts.ts'
import { countActiveDevices } from '../../../projections/licenses/active-devices.ts'
import { listParkedOfTenant } from '../../../projections/runner/parked.ts'
import { countSalesNeedingHolder } from '../../../projections/sales/holders.ts'
import { countParkedSales } from '../../../projections/sales/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import { may } from '../../domain/members/roles.ts'
import { listApprovals } from '../../gate/approvals.ts'
import type { Ports } from '../../ports.ts'
import { usageRange } from '../../usage/range.ts'
import { readUsage } from '../../usage/read.ts'
import { countRefused } from '../../usage/read-refusals.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { readStart } from '../start/facts.ts'
import { homeView } from './view.ts'

/** Failed deliveries are listed for as long as a member may want to redeliver them. */
const givenUpWithinMs = 7 * 86_400_000

/** The home page: what needs attention, and recent activity. */
export function homePage(app: FastifyInstance, { services, show }: PageContext): void {
  app.get('/', pageRoute({ page: 'member' }), async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const range = usageRange({ granularity: 'day' }, momentOf(services))
    if (typeof range === 'string') throw new Error(`the last days are no range: ${range}`)
    await Promise.all([services.usage.flush(), services.refusals.flush()])
    const [approvals, waits, usage, devices, start, refused] = await Promise.all([
      listApprovals(services, tenantId),
      whatWaits(services, tenantId),
      readUsage(services.db, tenantId, undefined, range),
      countActiveDevices(services.db, tenantId),
      readStart(services, tenantId),
      countRefused(services.db, tenantId, 'activate', momentOf(services)),
    ])
    return show(reply, {
      title: 'Home',
      nav: 'home',
      content: (view) =>
        homeView(view, {
          approvals,
          mayDecide: may(role, 'decide_confirmations'),
          waits: { ...waits, behind: request.freshness?.waiting ?? 0 },
          usage,
          devices,
          refused,
          start,
        }),
    })
  })
}

async function whatWaits(services: Ports<'db' | 'now'>, tenantId: string) {
  const now = services.now()
  const since = new Date(now.getTime() - givenUpWithinMs).toISOString()
  const [deliveries, parkedSales, salesNeedingHolder, parkedStreams] = await Promise.all([
    countDeliveries(services.db, tenantId, { now: now.toISOString(), since }),
    countParkedSales(services.db, tenantId),
    countSalesNeedingHolder(services.db, tenantId),
    listParkedOfTenant(services.db, tenantId),
  ])
  return { deliveries, parkedSales, salesNeedingHolder, parkedStreams: parkedStreams.length }
}
