import type { FastifyInstance } from 'fastify'
import { listMembers } from '../../../projections/members.ts'
import { actorNames } from '../../history/actors.ts'
import { auditPageOf } from '../../http/audit-page.ts'
import type { Ports } from '../../ports.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { auditExport } from './export-route.ts'
import { AuditQuery, auditQueryOf, filterOf, shownEntries } from './filter.ts'
import { auditView, type Person } from './view.ts'

const pageSize = 50

/** The audit log: who viewed, exported, decided and changed what. Viewing it is recorded as well. */
export function auditPage(app: FastifyInstance, context: PageContext): void {
  const { ports, cursors, show } = context
  app.get('/audit', auditedPage('licenses:read', 'audit', AuditQuery), async (request, reply) => {
    const principal = principalOf(request)
    const { tenantId } = principal
    const { cursor, shown } = auditQueryOf(request)
    const boundTo = [tenantId, 'dashboard audit', JSON.stringify(shown)]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const { items, next } = await auditPageOf(ports, tenantId, filterOf(shown), keyset)
    const [entries, people] = await Promise.all([
      shownEntries(ports, principal, items),
      peopleOf(ports, tenantId, shown.actor),
    ])
    return show(reply, {
      title: 'Audit log',
      nav: 'audit',
      content: (view) =>
        auditView(view, { entries, people, shown, cursor, next: cursors.write(boundTo, next) }),
    })
  })
  auditExport(app, context)
}

/** The choices of the filter by person: the members, and the actor that is chosen now. */
async function peopleOf(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  chosen: string | undefined,
): Promise<Person[]> {
  const members = await listMembers(ports.db, tenantId)
  const actors = new Set(members.map(({ memberId }) => `member:${memberId}`))
  if (chosen !== undefined) actors.add(chosen)
  const nameOf = await actorNames(ports, tenantId, [...actors])
  return [...actors].map((actor) => ({ actor, name: nameOf(actor) }))
}
