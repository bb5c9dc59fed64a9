import type { FastifyRequest } from 'fastify'
import { recordAudit } from '../../commands/audit.ts'
import type { Ports } from '../../ports.ts'
import type { Found } from '../../search/search.ts'
import { originOfMember, principalOf } from '../session/principal.ts'

/** Records the kind of search in the audit log, but not the text, which may be a key or name a person. */
export async function noteSearch(
  ports: Ports<'execute' | 'newId' | 'now'>,
  request: FastifyRequest,
  found: Found,
): Promise<void> {
  const all = [...found.licenses, ...found.customers, ...found.sales, ...found.devices]
  await recordAudit(
    ports,
    principalOf(request).tenantId,
    { action: 'searched', target: { kind: 'search', id: all[0]?.by ?? 'nothing found' } },
    originOfMember(request),
  )
}
