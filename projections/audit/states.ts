import type { Recorded } from '../../src/domain/recorded.ts'
import type { Statements } from '../statements.ts'
import type { RowIn } from '../table.ts'
import type { Administration } from './administered.ts'
import { administrationIn } from './administration.ts'
import { changesBetween, type Fields } from './fields.ts'
import { sourceIn } from './source.ts'
import type { AuditEntry, auditStates } from './tables.ts'

/** What is known of one administered thing after its last event. */
type State = RowIn<typeof auditStates> & { fields: Fields }

const partOf = ({ kind, id }: Administration): string => `${kind} ${id ?? ''}`
const keyOf = ({ stream, part }: Pick<State, 'stream' | 'part'>): string => `${stream} ${part}`

/**
 * The present values of what the events change, so that each change has the values before and after.
 * @returns `rowsOf`: the audit rows of an entry, to be called in the order of the log; `changed`: the new values
 */
export async function loadStates(db: Statements, entries: readonly Recorded[]) {
  const places = entries.flatMap((entry) => {
    const change = administrationIn(entry)
    return change ? [{ stream: entry.stream, part: partOf(change) }] : []
  })
  const states = new Map<string, State>()
  const changed = new Set<string>()
  if (places.length > 0) {
    const { rows } = await db.query<State>({
      name: 'audit-states',
      text: `select s.stream, s.part, s.tenant_id as "tenantId", s.revision, s.fields
             from audit_states s join (select distinct * from unnest($1::text[], $2::text[]) as u (stream, part)) q
               using (stream, part)`,
      values: [places.map(({ stream }) => stream), places.map(({ part }) => part)],
    })
    for (const row of rows) states.set(keyOf(row), row)
  }

  function rowsOf(entry: Recorded): AuditEntry[] {
    const change = administrationIn(entry)
    if (!change) return []
    const place = { stream: entry.stream, part: partOf(change) }
    const before = states.get(keyOf(place))
    const tenantId = change.tenantId ?? before?.tenantId
    if (tenantId === undefined || (before && before.revision >= entry.revision)) return []
    const known = before?.fields ?? {}
    const fields =
      change.fields === null || change.whole ? (change.fields ?? {}) : { ...known, ...change.fields }
    states.set(keyOf(place), { ...place, tenantId, revision: entry.revision, fields })
    changed.add(keyOf(place))
    return [rowOf(entry, change, tenantId, known, fields)]
  }

  return {
    rowsOf,
    changed: () => [...changed].flatMap((key) => states.get(key) ?? []),
  }
}

function rowOf(
  { id, position, metadata }: Recorded,
  { action, kind, id: targetId }: Administration,
  tenantId: string,
  before: Fields,
  after: Fields,
) {
  return {
    position: String(position),
    eventId: id,
    tenantId,
    at: metadata.at,
    actor: metadata.actor,
    action,
    targetKind: kind,
    targetId,
    requestId: metadata.requestId,
    times: 1,
    changes: changesBetween(before, after),
    ...sourceIn(metadata),
  }
}
