import type { FastifyInstance } from 'fastify'
import { countActiveDevices } from '../../../projections/licenses/active-devices.ts'
import { momentOf } from '../../commands/origin.ts'
import { may } from '../../domain/members/roles.ts'
import { listApprovals } from '../../gate/approvals.ts'
import { usageRange } from '../../usage/range.ts'
import { readUsage } from '../../usage/read.ts'
import { countRefused } from '../../usage/read-refusals.ts'
import { readAttention } from '../frame/navigation.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { readStart } from '../start/facts.ts'
import { homeView } from './view.ts'

/** The home page: what needs attention, and recent activity. */
export function homePage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/', pageRoute({ page: 'member' }), async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const range = usageRange({ granularity: 'day' }, momentOf(ports))
    if (typeof range === 'string') throw new Error(`the last days are no range: ${range}`)
    await Promise.all([ports.usage.flush(), ports.refusals.flush()])
    const [approvals, attention, usage, devices, start, refused] = await Promise.all([
      listApprovals(ports, tenantId),
      readAttention(ports, tenantId),
      readUsage(ports.db, tenantId, undefined, range),
      countActiveDevices(ports.db, tenantId),
      readStart(ports, tenantId),
      countRefused(ports.db, tenantId, 'activate', momentOf(ports)),
    ])
    return show(reply, {
      title: 'Home',
      nav: 'home',
      content: (view) =>
        homeView(view, {
          approvals,
          mayDecide: may(role, 'decide_confirmations'),
          pendingWork: {
            ...attention,
            parkedStreams: attention.parkedStreams.length,
            behind: request.freshness?.waiting ?? 0,
          },
          usage,
          devices,
          refused,
          start,
        }),
    })
  })
}
