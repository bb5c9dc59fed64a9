import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { findMetering } from '../../../projections/meters/licenses.ts'
import { listLines } from '../../../projections/meters/queries.ts'
import { isId } from '../../credentials/id.ts'
import { isSlug } from '../../domain/values.ts'
import { notFound } from '../../http/problem.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { linesView } from './lines-view.ts'

const pageSize = 50

const Query = z.object({ cursor: one })

type LinesRequest = FastifyRequest<{ Params: { id: string; meter: string } }>

/** The lines of the bill of a meter of a license, the newest first. */
export function meterLinesPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get(
    '/licenses/:id/meters/:meter',
    auditedPage('license', Query),
    async (request: LinesRequest, reply) => {
      const { tenantId } = principalOf(request)
      const { id, meter } = request.params
      const entry = isId('lic', id) && isSlug(meter) ? await findLicense(ports.db, tenantId, id) : undefined
      if (!entry) throw notFound('license')
      const { cursor } = Query.parse(request.query)
      const boundTo = [tenantId, 'dashboard meter lines', id, meter]
      const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
      const [{ items: lines, next }, metering] = await Promise.all([
        listLines(ports.db, id, meter, keyset),
        findMetering(ports.db, tenantId, id),
      ])
      const isKnown = lines.length > 0 || metering?.meters.some((terms) => terms.meter === meter)
      if (!isKnown) throw notFound('page')
      const { displayKey } = entry.license
      return show(reply, {
        title: `Lines of ${meter}`,
        nav: 'licenses',
        trail: [{ label: displayKey, href: `/dashboard/licenses/${id}` }],
        content: () =>
          linesView({ licenseId: id, displayKey, meter, lines, cursor, next: cursors.write(boundTo, next) }),
      })
    },
  )
}
