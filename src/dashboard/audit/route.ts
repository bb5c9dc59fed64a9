import type { FastifyInstance } from 'fastify'
import { actorNames } from '../../history/actors.ts'
import { auditPageOf } from '../../http/audit-page.ts'
import { queryOf } from '../frame/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { auditView } from './view.ts'

const pageSize = 50

/** The audit log: who viewed, exported and decided what. Viewing it is recorded as well. */
export function auditPage(app: FastifyInstance, { services, cursors, show }: PageContext): void {
  app.get('/audit', auditedPage('audit'), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { cursor, actor, action, target } = queryOf(request)
    const boundTo = [tenantId, 'dashboard audit', actor ?? null, action ?? null, target ?? null]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const filter = { actor, action, targetId: target }
    const { items: entries, next } = await auditPageOf(services, tenantId, filter, keyset)
    const nameOf = await actorNames(
      services,
      tenantId,
      entries.map((entry) => entry.actor),
    )
    return show(reply, {
      title: 'Audit log',
      nav: 'audit',
      content: (view) =>
        auditView(view, {
          entries: entries.map((entry) => ({ ...entry, who: nameOf(entry.actor) })),
          filter: { actor, action, target },
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}
