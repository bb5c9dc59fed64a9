import type { AuditEvent } from '../../src/domain/audit/events.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { Statements } from '../statements.ts'

/** Views of one page by one person within this time of the first are one line. */
const togetherMs = 10 * 60_000

type Looked = Extract<AuditEvent, { type: 'Looked' }>['data']

/** The row of a view. Positions are written as text, because JSON has no 64-bit numbers. */
type ViewRow = {
  position: string
  event_id: string
  tenant_id: string
  at: string
  actor: string
  action: string
  target_kind: string
  target_id: string | null
  as_of: string | null
  request_id: string
  times: number
  last_at: string | null
  last_position: string | null
}

/** Whether the entry is a view, which may continue an earlier one. */
export const isView = (entry: Recorded): boolean => viewIn(entry) !== undefined

function viewIn(entry: Recorded): Looked | undefined {
  if (entry.category !== 'audit' || entry.event.type !== 'Looked') return undefined
  return entry.event.data.action === 'viewed' ? entry.event.data : undefined
}

type Page = Pick<ViewRow, 'tenant_id' | 'actor' | 'target_kind' | 'target_id' | 'as_of'>
const keyOf = ({ tenant_id, actor, target_kind, target_id, as_of }: Page): string =>
  JSON.stringify([tenant_id, actor, target_kind, target_id, as_of])

const pageOf = ({ tenantId, target, asOf }: Looked, actor: string): Page => ({
  tenant_id: tenantId,
  actor,
  target_kind: target.kind,
  target_id: target.id,
  as_of: asOf,
})

/**
 * The last views of the pages that the entries view again.
 * @returns `rowsOf`: the new row of an entry, if there is one, to be called in the order of the log; `extended`: the
 *   earlier rows that hold more views now
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

  function rowsOf(entry: Recorded): object[] {
    const view = viewIn(entry)
    if (!view) return []
    const { id, position, metadata } = entry
    const { at, actor, requestId } = metadata
    const page = pageOf(view, actor)
    const before = last.get(keyOf(page))
    if (before && BigInt(before.last_position ?? before.position) >= position) return []
    if (before && Date.parse(at) - Date.parse(before.at) <= togetherMs) {
      Object.assign(before, { times: before.times + 1, last_at: at, last_position: String(position) })
      if (!fresh.has(before)) extended.add(before)
      return []
    }
    const row: ViewRow = {
      ...page,
      position: String(position),
      event_id: id,
      at,
      action: 'viewed',
      request_id: requestId,
      times: 1,
      last_at: null,
      last_position: null,
    }
    last.set(keyOf(page), row)
    fresh.add(row)
    return [row]
  }
  return { rowsOf, extended: () => [...extended] }
}

async function lastViewsOf(db: Statements, pages: readonly Page[]): Promise<ViewRow[]> {
  const { rows } = await db.query<ViewRow>({
    name: 'last-audit-views',
    text: `select v.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
               as q (tenant_id, actor, target_kind, target_id, as_of)
           cross join lateral (
             select a.position::text, a.event_id, a.tenant_id, a.at, a.actor, a.action, a.target_kind, a.target_id,
               a.as_of, a.request_id, a.times, a.last_at, a.last_position::text
             from audit a
             where a.tenant_id = q.tenant_id and a.actor = q.actor and a.target_kind = q.target_kind
               and a.action = 'viewed' and coalesce(a.target_id, '') = coalesce(q.target_id, '')
               and a.as_of is not distinct from q.as_of
             order by a.position desc limit 1
           ) v`,
    values: [
      pages.map((page) => page.tenant_id),
      pages.map((page) => page.actor),
      pages.map((page) => page.target_kind),
      pages.map((page) => page.target_id),
      pages.map((page) => page.as_of),
    ],
  })
  return rows
}

export const extendViews = `
  update audit a set times = v.times, last_at = v.last_at, last_position = v.last_position
  from json_populate_recordset(null::audit, $1) v
  where a.position = v.position and coalesce(a.last_position, a.position) < v.last_position`
