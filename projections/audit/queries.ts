import type { Pool } from 'pg'
import { type Keyset, type PageOf, type PageStart, pageOf } from '../page.ts'
import type { FieldChange } from './fields.ts'

/** An entry of the audit log. */
export type AuditEntry = {
  id: string
  at: string
  actor: string
  /**
   * `viewed`, `searched`, `exported`, `revealed`, `rebuilt`, `erased`, `required`, `no_longer_required`; of dangerous
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
  /** Where a sign-in came from, sealed under the key of the person. */
  sealedAddress: { subjectId: string | null; address: string | null }
}

export type AuditFilter = {
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
  { actor, action, targetId, kind, from, to }: AuditFilter,
  { after, limit, order }: Keyset,
): Promise<PageOf<AuditEntry>> {
  const [direction, comparison] = order === 'oldest' ? ['asc', '>'] : ['desc', '<']
  const { rows } = await db.query<Row>(
    `select position, event_id as id, at, actor, action, target_kind as "targetKind", target_id as "targetId",
       as_of as "asOf", operation, confirmation_id as "confirmationId", request_id as "requestId",
       times, last_at as "lastAt", changes, subject_id as "subjectId", address
     from audit
     where tenant_id = $1
       and ($2::text is null or actor = $2)
       and ($3::text is null or action = $3)
       and ($4::text is null or target_id = $4)
       and ($5::bigint is null or position ${comparison} $5)
       and ($7::text is null or target_kind = $7)
       and ($8::timestamptz is null or at >= $8) and ($9::timestamptz is null or at < $9)
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
    ],
  )
  const { items, next } = pageOf(rows, limit, ({ at, position }) => ({ createdAt: at, id: String(position) }))
  return { items: items.map(entryFrom), next }
}

type Row = Omit<AuditEntry, 'changes' | 'sealedAddress'> & {
  position: bigint
  changes: FieldChange[] | null
  subjectId: string | null
  address: string | null
}

const entryFrom = ({ position: _, changes, subjectId, address, ...entry }: Row): AuditEntry => ({
  ...entry,
  changes: changes ?? [],
  sealedAddress: { subjectId, address },
})
