import type { ConfirmationEvent } from '../../src/domain/confirmations/events.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { Projector } from '../projector.ts'
import type { Statements } from '../statements.ts'
import type { AuditedAction, AuditedKind } from './actions.ts'
import { sourceIn } from './source.ts'
import { loadStates } from './states.ts'
import { type AuditEntry, type AuditRow, audit, auditStates } from './tables.ts'
import { isView, loadViews } from './views.ts'

/**
 * The audit log: who viewed, exported or revealed what, who requested and decided dangerous operations, who signed in,
 * and who changed what is administered, with the values before and after. Views and sign-ins have audit events of their
 * own; the rest is taken from the events of what was changed.
 */
export const auditProjector: Projector = {
  name: 'audit',
  tables: [audit, auditStates],
  applyIndexes: ['audit_of_confirmation', 'audit_of_view'],
  async apply(db, entries) {
    const [requests, states, views] = await Promise.all([
      requestsOf(db, entries),
      loadStates(db, entries),
      loadViews(db, entries),
    ])
    const rows = entries.flatMap((entry) => [
      ...rowsOf(entry, requests),
      ...states.rowsOf(entry),
      ...views.rowsOf(entry),
    ])
    return [...audit.write(rows), ...views.extending(), ...auditStates.write(states.changed())]
  },
}

/** What all audit entries of one dangerous request share. */
type Request = Pick<AuditRow, 'tenantId' | 'targetId' | 'operation'> & {
  confirmationId: string
  targetKind: RequestedKind
}

/** A request about anything else is about its operation. */
type RequestedKind = 'license' | 'customer' | 'operation'

const confirmationOf = ({ stream }: Recorded): string => stream.slice('confirmation-'.length)

/** The requests that the events concern, from the events themselves and from earlier audit entries. */
async function requestsOf(db: Statements, entries: readonly Recorded[]): Promise<Map<string, Request>> {
  const own = entries.filter((entry) => entry.category === 'confirmation')
  const requests = new Map(own.flatMap((entry) => requestIn(entry.event)))
  const before = new Set(own.map(confirmationOf).filter((id) => !requests.has(id)))
  if (before.size === 0) return requests
  const { rows } = await db.query<Request>({
    name: 'audit-requests',
    text: `select tenant_id as "tenantId", target_kind as "targetKind", target_id as "targetId", operation,
             confirmation_id as "confirmationId"
           from audit
           where confirmation_id = any($1) and action = 'asked'`,
    values: [[...before]],
  })
  for (const request of rows) requests.set(request.confirmationId, request)
  return requests
}

function requestIn(event: ConfirmationEvent): [string, Request][] {
  if (event.type !== 'ConfirmationRequested') return []
  const { confirmationId, tenantId, operation, parameters } = event.data
  const { id } = parameters
  const request = {
    tenantId,
    targetKind: kinds[id?.slice(0, 3) ?? ''] ?? 'operation',
    targetId: id ?? null,
    operation,
    confirmationId,
  }
  return [[confirmationId, request]]
}

const kinds: Record<string, RequestedKind> = { lic: 'license', cus: 'customer' }

type Listed = AuditEntry & { action: AuditedAction; targetKind: AuditedKind }

function rowsOf(entry: Recorded, requests: ReadonlyMap<string, Request>): Listed[] {
  const { id, position, metadata } = entry
  const { at, actor, requestId } = metadata
  const base = {
    position: String(position),
    eventId: id,
    at,
    actor,
    requestId,
    times: 1,
    ...sourceIn(metadata),
  }
  if (entry.category === 'audit') {
    const { type, data } = entry.event
    if (type === 'RebuildStarted')
      return [{ ...base, tenantId: data.tenantId, action: 'rebuilt', targetKind: 'read_models' }]
    if (type === 'TestMailRequested') {
      const tested = { action: 'tested', targetKind: 'mail', targetId: data.productId } as const
      return [{ ...base, tenantId: data.tenantId, ...tested }]
    }
    if (type === 'PortalViewed') {
      const viewed = { action: 'portal_viewed', targetKind: 'customer', targetId: data.customerId } as const
      return [{ ...base, tenantId: data.tenantId, ...viewed }]
    }
    if (type !== 'Looked') {
      const { tenantId, memberId, subjectId, method, address } = data
      const member = { targetKind: 'member', targetId: memberId, subjectId, address } as const
      const changes = [{ field: 'method', before: null, after: method }]
      const action = type === 'SignedIn' ? 'signed_in' : 'sign_in_failed'
      return [{ ...base, tenantId, action, ...member, changes }]
    }
    if (isView(entry)) return []
    const { tenantId, action, target, asOf } = data
    const { kind, id: targetId } = target
    // A shown key is recorded as `sdk-key`, and a rotated one listed as `sdk_key`: one kind, for one filter.
    const targetKind = kind === 'sdk-key' ? 'sdk_key' : kind
    return [{ ...base, tenantId, action, targetKind, targetId, asOf }]
  }
  if (entry.category === 'subject') {
    if (entry.event.type !== 'ErasureBegun') return []
    const { tenantId, subjectId } = entry.event.data
    return [{ ...base, tenantId, action: 'erased', targetKind: 'subject', targetId: subjectId }]
  }
  if (entry.category === 'tenant') {
    if (entry.event.type !== 'ApprovalRuleChanged') return []
    const tenantId = entry.stream.slice('tenant-'.length)
    const action = entry.event.data.anotherMember ? 'required' : 'no_longer_required'
    return [{ ...base, tenantId, action, targetKind: 'approval_by_another_member' }]
  }
  if (entry.category !== 'confirmation') return []
  const action = actionOf(entry.event)
  const request = requests.get(confirmationOf(entry))
  return action && request ? [{ ...base, ...request, action }] : []
}

/** Undefined for events that are not a person's decision; the audit log leaves them out. */
function actionOf(event: ConfirmationEvent): AuditedAction | undefined {
  switch (event.type) {
    case 'ConfirmationRequested':
      return 'asked'
    case 'ConfirmationApproved':
      return 'approved'
    case 'ConfirmationDenied':
      return 'denied'
    case 'ConfirmationWithdrawn':
      return 'withdrawn'
    case 'ConfirmationExecuted':
      return event.data.outcome === 'done' ? 'executed' : 'refused'
    case 'ApproverMailed':
    case 'ConfirmationExpired':
    case 'ConfirmationConsumed':
      return undefined
  }
}
