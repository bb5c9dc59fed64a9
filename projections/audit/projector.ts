import type { ConfirmationEvent } from '../../src/domain/confirmations/events.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { Projector } from '../projector.ts'
import { type Statements, writesOf } from '../statements.ts'
import { sourceIn } from './source.ts'
import { loadStates, writeStates } from './states.ts'
import { extendViews, isView, loadViews } from './views.ts'

/**
 * The audit log: who viewed, exported or revealed what, who requested and decided dangerous operations, who signed in,
 * and who changed what is administered, with the values before and after. Views and sign-ins have audit events of their
 * own; the rest is taken from the events of what was changed.
 */
export const auditProjector: Projector = {
  name: 'audit',
  tables: ['audit', 'audit_states'],
  ddl: `
    create table audit (
      -- Its order: many things happen in one millisecond.
      position bigint primary key,
      event_id uuid not null,
      tenant_id text not null,
      at timestamptz not null,
      actor text not null,
      action text not null,
      target_kind text not null,
      target_id text,
      as_of text,
      -- What a dangerous request asked for, by its name.
      operation text,
      confirmation_id text,
      request_id text not null,
      -- Views of one page by one person within ten minutes are one row: how many, and the last of them.
      times int not null default 1,
      last_at timestamptz,
      last_position bigint,
      -- Of a change: the values that it replaced, as [{field, before, after}].
      changes json,
      -- Of administration and sign-ins by requests: the network address, sealed under the key of this person.
      subject_id text,
      address text
    );
    create index audit_of_tenant on audit (tenant_id, position desc);
    create index audit_of_target on audit (tenant_id, target_id, position desc)
      where target_id is not null;
    create index audit_of_actor on audit (tenant_id, actor, position desc);
    create index audit_of_kind on audit (tenant_id, target_kind, position desc);
    create index audit_by_time on audit (tenant_id, at);
    create index audit_of_confirmation on audit (confirmation_id) where action = 'asked';
    create index audit_of_view on audit (tenant_id, actor, target_kind, coalesce(target_id, ''), position desc)
      where action = 'viewed';
    -- The present values of what is administered, which the next change is compared with.
    create table audit_states (
      stream text not null,
      -- Its kind and id: one stream holds a product and its key types.
      part text not null,
      tenant_id text not null,
      revision int not null,
      fields json not null,
      primary key (stream, part)
    ) with (fillfactor = 85)`,
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
    return [
      ...writesOf('write-audit', writeAudit, rows),
      ...writesOf('extend-audit-views', extendViews, views.extended()),
      ...writesOf('write-audit-states', writeStates, states.changed()),
    ]
  },
}

/** The columns that all audit entries of one dangerous request share. */
type Request = {
  tenant_id: string
  target_kind: string
  target_id: string | null
  operation: string
  confirmation_id: string
}

const confirmationOf = ({ stream }: Recorded): string => stream.slice('confirmation-'.length)

/** The requests that the events concern, from the events themselves and from earlier audit entries. */
async function requestsOf(db: Statements, entries: readonly Recorded[]): Promise<Map<string, Request>> {
  const own = entries.filter((entry) => entry.category === 'confirmation')
  const requests = new Map(own.flatMap((entry) => requestIn(entry.event)))
  const before = new Set(own.map(confirmationOf).filter((id) => !requests.has(id)))
  if (before.size === 0) return requests
  const { rows } = await db.query<Request>({
    name: 'audit-requests',
    text: `select tenant_id, target_kind, target_id, operation, confirmation_id from audit
           where confirmation_id = any($1) and action = 'asked'`,
    values: [[...before]],
  })
  for (const request of rows) requests.set(request.confirmation_id, request)
  return requests
}

function requestIn(event: ConfirmationEvent): [string, Request][] {
  if (event.type !== 'ConfirmationRequested') return []
  const { confirmationId, tenantId, operation, parameters } = event.data
  const { id } = parameters
  const request = {
    tenant_id: tenantId,
    target_kind: (id && kinds[id.slice(0, 3)]) ?? 'operation',
    target_id: id ?? null,
    operation,
    confirmation_id: confirmationId,
  }
  return [[confirmationId, request]]
}

const kinds: Record<string, string> = { lic: 'license', cus: 'customer' }

function rowsOf(entry: Recorded, requests: ReadonlyMap<string, Request>): object[] {
  const { id, position, metadata } = entry
  const { at, actor, requestId } = metadata
  const base = {
    position: String(position),
    event_id: id,
    at,
    actor,
    request_id: requestId,
    times: 1,
    ...sourceIn(metadata),
  }
  if (entry.category === 'audit') {
    const { type, data } = entry.event
    if (type === 'RebuildStarted')
      return [{ ...base, tenant_id: data.tenantId, action: 'rebuilt', target_kind: 'read_models' }]
    if (type === 'TestMailRequested') {
      const tested = { action: 'tested', target_kind: 'mail', target_id: data.productId }
      return [{ ...base, tenant_id: data.tenantId, ...tested }]
    }
    if (type !== 'Looked') {
      const { tenantId, memberId, subjectId, method, address } = data
      const member = { target_kind: 'member', target_id: memberId, subject_id: subjectId, address }
      const changes = [{ field: 'method', before: null, after: method }]
      const action = type === 'SignedIn' ? 'signed_in' : 'sign_in_failed'
      return [{ ...base, tenant_id: tenantId, action, ...member, changes }]
    }
    if (isView(entry)) return []
    const { tenantId, action, target, asOf } = data
    const { kind, id: targetId } = target
    // A shown key is recorded as `sdk-key`, and a rotated one listed as `sdk_key`: one kind, for one filter.
    const target_kind = kind.replaceAll('-', '_')
    return [{ ...base, tenant_id: tenantId, action, target_kind, target_id: targetId, as_of: asOf }]
  }
  if (entry.category === 'subject') {
    if (entry.event.type !== 'ErasureBegun') return []
    const { tenantId, subjectId } = entry.event.data
    return [{ ...base, tenant_id: tenantId, action: 'erased', target_kind: 'subject', target_id: subjectId }]
  }
  if (entry.category === 'tenant') {
    if (entry.event.type !== 'ApprovalRuleChanged') return []
    const tenant_id = entry.stream.slice('tenant-'.length)
    const action = entry.event.data.anotherMember ? 'required' : 'no_longer_required'
    return [{ ...base, tenant_id, action, target_kind: 'approval_by_another_member' }]
  }
  if (entry.category !== 'confirmation') return []
  const action = actionOf(entry.event)
  const request = requests.get(confirmationOf(entry))
  return action && request ? [{ ...base, ...request, action }] : []
}

/** Undefined for events that are not a person's decision; the audit log leaves them out. */
function actionOf(event: ConfirmationEvent): string | undefined {
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

const writeAudit = `
  insert into audit select * from json_populate_recordset(null::audit, $1)
  on conflict (position) do nothing`
