import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { type OrganizationRequest, organizationOf } from './organization.ts'
import { usageCsv, usagePage } from './usage.ts'
import { usageView } from './usage-view.ts'

const Query = z.object({ after: z.string().max(100).optional().catch(undefined) })

/** What is used of the licenses of an organization, for its administrators. */
export function usageRoutes(app: FastifyInstance, { ports }: PortalContext): void {
  const path = '/:tenantId/organizations/:id/usage'

  app.get(path, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    const { visit, organization } = found
    const { customerId } = organization
    const { after } = Query.parse(request.query)
    const used = await usagePage(ports, { tenantId: visit.tenantId, customerId }, after)
    const title = visit.say('usageTitle')
    return showPage(reply, visit, { title, content: usageView(visit, organization, used) })
  })

  app.get(`${path}.csv`, page, async (request: OrganizationRequest, reply) => {
    const found = await organizationOf(ports, request, reply)
    if (!found) return reply
    const { visit, organization } = found
    const { customerId } = organization
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="usage.csv"')
      .send(Readable.from(usageCsv(ports, { tenantId: visit.tenantId, customerId })))
  })
}
