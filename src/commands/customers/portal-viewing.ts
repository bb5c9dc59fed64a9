import { type NewViewing, viewingMs, writeViewing } from '../../access/portal-viewings.ts'
import { newSecret } from '../../credentials/secret.ts'
import { audits } from '../../domain/audit/audit.ts'
import { auditKey } from '../../domain/streams.ts'
import { noStream } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, type Origin } from '../origin.ts'

/**
 * Records that a member is about to see the portal as a customer does, and makes the link that begins it. A crash in between
 * leaves an entry of the audit log without a viewing, never the reverse.
 * @returns the secret of the link, which is good once and for a minute
 */
export async function beginViewing(
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes'>,
  viewing: Omit<NewViewing, 'link'>,
  origin: Origin,
): Promise<string> {
  const { tenantId, customerId } = viewing
  const auditId = ports.newId('aud')
  const now = ports.now()
  const at = now.toISOString()
  const endsAt = new Date(now.getTime() + viewingMs).toISOString()
  await ports.execute(
    audits,
    auditKey(tenantId, auditId),
    { type: 'PortalViewed', data: { auditId, tenantId, customerId, endsAt, at } },
    causeOf(origin, at),
    { loaded: noStream(audits) },
  )
  const link = newSecret(ports.randomBytes)
  await writeViewing(ports.db, { ...viewing, link }, now)
  return link
}
