import { audits } from '../domain/audit/audit.ts'
import type { AuditAction, AuditTarget } from '../domain/audit/events.ts'
import { auditKey } from '../domain/streams.ts'
import { noStream } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** What somebody is about to be shown. */
export type View = {
  action: AuditAction
  target: AuditTarget
  /** The moment or the event that is looked back to, as it was asked for; the present when absent. */
  asOf?: string | undefined
}

/**
 * Records that somebody looks at something, before they are shown it: what is not recorded is not seen. Each look is
 * a stream of its own, so that nobody waits for somebody else's.
 * @param origin who looks: `member:…`, `token:…` or `operator:…`
 * @throws LedgerUnavailable when it cannot be recorded, and then nothing may be shown
 */
export async function recordAudit(
  services: Ports<'execute' | 'newId' | 'now'>,
  tenantId: string,
  { action, target, asOf }: View,
  origin: Origin,
): Promise<void> {
  const auditId = services.newId('aud')
  const at = momentOf(services)
  await services.execute(
    audits,
    auditKey(tenantId, auditId),
    { auditId, tenantId, at, action, target, asOf: asOf ?? null },
    causeOf(origin, at),
    { found: noStream(audits) },
  )
}
