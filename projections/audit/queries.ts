import type { Pool } from 'pg'
import { type Keyset, type PageOf, type PageStart, pageOf } from '../page.ts'
import type { FieldChange } from './fields.ts'

/** An entry of the audit log. */
export type AuditEntry = {
  id: string
  at: string
  actor: string
  /**
   * `viewed`, `searched`, `exported`, `revealed`, `portal_viewed`, `rebuilt`, `erased`, `required`, `no_longer_required`; of dangerous
   * requests `asked`, `approved`, `denied`, `withdrawn`, `executed`, `refused`; `signed_in`, `sign_in_failed`; of what is
   * administered `created`, `changed`, `deleted`, `rotated` and others.
   */
  action: string
  targetKind: string
  targetId: string | null
  asOf: string | null
  operation: string | null
  confirmationId: string | null
  requestId: string
  /** How often the page was viewed within ten minutes; 1 for everything else. */
  times: number
  /** The last of these views; null for one. */
  lastAt: string | null
  /** The values that a change replaced, by name. */
  changes: FieldChange[]
  /** What the actor used, from which it follows where else an entry without an address came from. */
  via: Via
  /** The network address, sealed under the key of the person; nulls where none is recorded. */
  sealedAddress: { subjectId: string | null; address: string | null }
}

/** What was used: an API token is `api`, work of the service itself `service`. */
export const vias = ['dashboard', 'api', 'command_line', 'provider', 'app', 'service'] as const
export type Via = (typeof vias)[number]

/** The kinds of actors, by what they use. */
const actorKinds: Readonly<Record<Via, string>> = {
  dashboard: 'member',
  api: 'token',
  command_line: 'operator',
  provider: 'provider',
  app: 'client',
  service: 'system',
}

/** The kind of the actor. A failed sign-in is recorded by the service, and was tried at the dashboard. */
const usedKind = `case action when 'sign_in_failed' then 'member' else split_part(actor, ':', 1) end`

export type AuditFilter = {
  via?: Via | undefined
  actor?: string | undefined
  /** The kind of the target. */
  kind?: string | undefined
  /** From this time on. */
  from?: string | undefined
  /** Before this time. */
  to?: string | undefined
  action?: string | undefined
  targetId?: string | undefined
}

/** Whether a page start is a position of this log: a cursor from before a copy of the log has other positions. */
export async function isAuditPosition(
  db: Pool,
  tenantId: string,
  { id, createdAt }: PageStart,
): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from audit where position = $1 and tenant_id = $2 and at = $3',
    [id, tenantId, createdAt],
  )
  return rowCount !== 0
}

/** Newest first, by position in the log. */
export async function listAudit(
  db: Pool,
  tenantId: string,
  { actor, action, targetId, kind, from, to, via }: AuditFilter,
  { after, limit, order }: Keyset,
): Promise<PageOf<AuditEntry>> {
  const [direction, comparison] = order === 'oldest' ? ['asc', '>'] : ['desc', '<']
  const { rows } = await db.query<Row>(
    `select position, event_id as id, at, actor, action, target_kind as "targetKind", target_id as "targetId",
       as_of as "asOf", operation, confirmation_id as "confirmationId", request_id as "requestId",
       times, last_at as "lastAt", changes, subject_id as "subjectId", address,
       ${usedKind} as "usedKind"
     from audit
     where tenant_id = $1
       and ($2::text is null or actor = $2)
       and ($3::text is null or action = $3)
       and ($4::text is null or target_id = $4)
       and ($5::bigint is null or position ${comparison} $5)
       and ($7::text is null or target_kind = $7)
       and ($8::timestamptz is null or at >= $8) and ($9::timestamptz is null or at < $9)
       and ($10::text is null or ${usedKind} = $10)
     order by position ${direction} limit $6`,
    [
      tenantId,
      actor ?? null,
      action ?? null,
      targetId ?? null,
      after?.id ?? null,
      limit + 1,
      kind ?? null,
      from ?? null,
      to ?? null,
      via ? actorKinds[via] : null,
    ],
  )
  const { items, next } = pageOf(rows, limit, ({ at, position }) => ({ createdAt: at, id: String(position) }))
  return { items: items.map(entryFrom), next }
}

type Row = Omit<AuditEntry, 'changes' | 'sealedAddress' | 'via'> & {
  usedKind: string
  position: bigint
  changes: FieldChange[] | null
  subjectId: string | null
  address: string | null
}

const entryFrom = ({
  position: _,
  changes,
  subjectId,
  address,
  usedKind: used,
  ...entry
}: Row): AuditEntry => ({
  ...entry,
  via: vias.find((via) => actorKinds[via] === used) ?? 'service',
  changes: changes ?? [],
  sealedAddress: { subjectId, address },
})
