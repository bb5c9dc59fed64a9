import type { FastifyInstance, FastifyRequest } from 'fastify'
import { recordAudit } from '../../commands/audit.ts'
import { isId } from '../../credentials/id.ts'
import { gatherEvidence } from '../../evidence/evidence.ts'
import { sendArchive } from '../../http/licenses/detail.ts'
import { spend } from '../../http/limits/rate-limit.ts'
import { notFound } from '../../http/problem.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'

const member = { config: { page: 'member' }, exposeHeadRoute: false, schema: { hide: true } } as const

/** The evidence archive of a license, the same as the API returns. */
export function evidencePage(app: FastifyInstance, { ports, limits }: PageContext): void {
  app.get(
    '/licenses/:id/evidence',
    member,
    async (request: FastifyRequest<{ Params: { id: string } }>, reply) => {
      const { tenantId } = principalOf(request)
      const { id } = request.params
      const origin = originOfMember(request)
      const onHit = () => ports.limitHits.count(tenantId, 'evidence')
      await spend(limits.evidence, tenantId, { reply, onHit })
      const evidence = isId('lic', id) ? await gatherEvidence(ports, tenantId, id, origin) : undefined
      if (!evidence) throw notFound('license')
      const entry = { action: 'exported', target: { kind: 'evidence', id } } as const
      await recordAudit(ports, tenantId, entry, origin)
      return sendArchive(reply, id, evidence)
    },
  )
}
