import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { listLines } from '../../../projections/meters/queries.ts'
import { metersOfLicenses, type OwnedMeters } from '../../commands/meters/owners.ts'
import { isId } from '../../credentials/id.ts'
import { isSlug } from '../../domain/values.ts'
import { type Content, html } from '../../html.ts'
import { notFound } from '../../http/problem.ts'
import type { Crumb } from '../frame/navigation.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { linesView } from './lines-view.ts'

const pageSize = 50

const Query = z.object({ cursor: one })

type LinesRequest = FastifyRequest<{ Params: { id: string; meter: string } }>

/** Whose lines a page shows. */
type LinesOf = {
  kind: 'license' | 'customer'
  owned: OwnedMeters
  /** What names the owner, and the pages above. @throws Problem 404, also for another tenant's */
  find: (request: FastifyRequest<{ Params: { id: string } }>) => Promise<{ named: Content; trail: Crumb[] }>
}

/** The lines of the meters of a license. */
export function licenseLinesPage(app: FastifyInstance, context: PageContext): void {
  meterLinesPage(app, context, {
    kind: 'license',
    owned: metersOfLicenses,
    async find(request) {
      const { id } = request.params
      const { tenantId } = principalOf(request)
      const entry = isId('lic', id) ? await findLicense(context.ports.db, tenantId, id) : undefined
      if (!entry) throw notFound('license')
      const { displayKey } = entry.license
      return {
        named: html`<span class="mono">${displayKey}</span>`,
        trail: [{ label: displayKey, href: `/dashboard/licenses/${id}` }],
      }
    },
  })
}

/** The lines of the bill of a meter of a license or a customer, the newest first. */
export function meterLinesPage(
  app: FastifyInstance,
  { ports, cursors, show }: PageContext,
  { kind, owned, find }: LinesOf,
): void {
  const nav = `${kind}s` as const
  app.get(
    `/${nav}/:id/meters/:meter`,
    auditedPage(`${nav}:read`, kind, Query),
    async (request: LinesRequest, reply) => {
      const { tenantId } = principalOf(request)
      const { id, meter } = request.params
      const { named, trail } = await find(request)
      if (!isSlug(meter)) throw notFound('page')
      const { cursor } = Query.parse(request.query)
      const boundTo = [tenantId, 'dashboard meter lines', id, meter]
      const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
      const [{ items: lines, next }, meters] = await Promise.all([
        listLines(ports.db, id, meter, keyset),
        owned.own(ports, tenantId, id),
      ])
      const isKnown = lines.length > 0 || meters.some(({ owner }) => owner.meter === meter)
      if (!isKnown) throw notFound('page')
      const path = `/dashboard/${nav}/${id}/meters/${meter}`
      const isShared = kind === 'customer'
      return show(reply, {
        title: `Lines of ${meter}`,
        nav,
        trail,
        content: () =>
          linesView({ path, named, isShared, meter, lines, cursor, next: cursors.write(boundTo, next) }),
      })
    },
  )
}
