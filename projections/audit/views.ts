import type { AuditEvent } from '../../src/domain/audit/events.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { type Statements, writesOf } from '../statements.ts'
import type { AuditEntry, AuditRow } from './tables.ts'

/** Views of one page by one person within this time of the first are one line. */
const togetherMs = 10 * 60_000

type Looked = Extract<AuditEvent, { type: 'Looked' }>['data']

/** The row of a view. Positions are written as text, because JSON has no 64-bit numbers. */
type ViewRow = Omit<AuditRow, 'operation' | 'confirmationId' | 'changes' | 'subjectId' | 'address'> & {
  position: string
  lastPosition: string | null
}

/** Whether the entry is a view, which may continue an earlier one. */
export const isView = (entry: Recorded): boolean => viewIn(entry) !== undefined

function viewIn(entry: Recorded): Looked | undefined {
  if (entry.category !== 'audit' || entry.event.type !== 'Looked') return undefined
  return entry.event.data.action === 'viewed' ? entry.event.data : undefined
}

type Page = Pick<ViewRow, 'tenantId' | 'actor' | 'targetKind' | 'targetId' | 'asOf'>
const keyOf = ({ tenantId, actor, targetKind, targetId, asOf }: Page): string =>
  JSON.stringify([tenantId, actor, targetKind, targetId, asOf])

const pageOf = ({ tenantId, target, asOf }: Looked, actor: string): Page => ({
  tenantId,
  actor,
  targetKind: target.kind,
  targetId: target.id,
  asOf,
})

/**
 * The last views of the pages that the entries view again.
 * @returns `rowsOf`: the new row of an entry, if there is one, to be called in the order of the log; `extending`: writes
 *   the earlier rows that hold more views now
 */
export async function loadViews(db: Statements, entries: readonly Recorded[]) {
  const pages = new Map<string, Page>()
  for (const entry of entries) {
    const view = viewIn(entry)
    if (!view) continue
    const page = pageOf(view, entry.metadata.actor)
    pages.set(keyOf(page), page)
  }
  const last = new Map<string, ViewRow>()
  if (pages.size > 0) for (const row of await lastViewsOf(db, [...pages.values()])) last.set(keyOf(row), row)
  const fresh = new Set<ViewRow>()
  const extended = new Set<ViewRow>()

  function rowsOf(entry: Recorded): AuditEntry[] {
    const view = viewIn(entry)
    if (!view) return []
    const { id, position, metadata } = entry
    const { at, actor, requestId } = metadata
    const page = pageOf(view, actor)
    const before = last.get(keyOf(page))
    if (before && BigInt(before.lastPosition ?? before.position) >= position) return []
    if (before && Date.parse(at) - Date.parse(before.at) <= togetherMs) {
      Object.assign(before, { times: before.times + 1, lastAt: at, lastPosition: String(position) })
      if (!fresh.has(before)) extended.add(before)
      return []
    }
    const row: ViewRow = {
      ...page,
      position: String(position),
      eventId: id,
      at,
      action: 'viewed',
      requestId,
      times: 1,
      lastAt: null,
      lastPosition: null,
    }
    last.set(keyOf(page), row)
    fresh.add(row)
    return [row]
  }
  return { rowsOf, extending: () => writesOf('extend-audit-views', extendViews, [...extended].map(extent)) }
}

async function lastViewsOf(db: Statements, pages: readonly Page[]): Promise<ViewRow[]> {
  const { rows } = await db.query<ViewRow>({
    name: 'last-audit-views',
    text: `select v.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
               as q (tenant_id, actor, target_kind, target_id, as_of)
           cross join lateral (
             select a.position::text, a.event_id as "eventId", a.tenant_id as "tenantId", a.at, a.actor, a.action,
               a.target_kind as "targetKind", a.target_id as "targetId", a.as_of as "asOf", a.request_id as "requestId",
               a.times, a.last_at as "lastAt", a.last_position::text as "lastPosition"
             from audit a
             where a.tenant_id = q.tenant_id and a.actor = q.actor and a.target_kind = q.target_kind
               and a.action = 'viewed' and coalesce(a.target_id, '') = coalesce(q.target_id, '')
               and a.as_of is not distinct from q.as_of
             order by a.position desc limit 1
           ) v`,
    values: [
      pages.map((page) => page.tenantId),
      pages.map((page) => page.actor),
      pages.map((page) => page.targetKind),
      pages.map((page) => page.targetId),
      pages.map((page) => page.asOf),
    ],
  })
  return rows
}

const extent = ({ position, times, lastAt, lastPosition }: ViewRow) => ({
  position,
  times,
  last_at: lastAt,
  last_position: lastPosition,
})

const extendViews = `
  update audit a set times = v.times, last_at = v.last_at, last_position = v.last_position
  from json_populate_recordset(null::audit, $1) v
  where a.position = v.position and coalesce(a.last_position, a.position) < v.last_position`
