import { audits } from '../domain/audit/audit.ts'
import type { AuditAction, AuditTarget } from '../domain/audit/events.ts'
import { auditKey } from '../domain/streams.ts'
import { noStream } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** A view that is about to be shown. */
export type View = {
  action: AuditAction
  target: AuditTarget
  /** The past moment or event that is viewed, as given in the request; absent for the present. */
  asOf?: string | undefined
}

/**
 * Records a view in the audit log before it is shown. Each view has a stream of its own, so that views do not
 * wait for each other.
 * @param origin the viewer: `member:…`, `token:…` or `operator:…`
 * @throws LedgerUnavailable when the append fails; nothing may be shown then
 */
export async function recordAudit(
  ports: Ports<'execute' | 'newId' | 'now'>,
  tenantId: string,
  { action, target, asOf }: View,
  origin: Origin,
): Promise<void> {
  const auditId = ports.newId('aud')
  const at = momentOf(ports)
  await ports.execute(
    audits,
    auditKey(tenantId, auditId),
    { type: 'Looked', data: { auditId, tenantId, at, action, target, asOf: asOf ?? null } },
    causeOf(origin, at),
    { loaded: noStream(audits) },
  )
}
