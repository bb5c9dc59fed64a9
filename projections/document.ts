import type { Evolver } from '../src/domain/decider.ts'
import type { Category } from '../src/domain/events.ts'
import { evolveRecorded, type Recorded } from '../src/domain/recorded.ts'
import { type Statement, type Statements, writesOf } from './statements.ts'

type Row = Record<string, unknown>

export type DocumentModel<State> = {
  table: string
  category: Category
  absent: State
  /** The domain's own `evolve`, so that a read model cannot differ from the log. */
  evolve: (state: State, recorded: Recorded) => State
  /** The columns for queries, in addition to `stream`, `revision` and `state`. */
  columns: (state: State) => Row
}

export type Document<State> = { stream: string; revision: number; state: State }

/** The part of a document model that follows from the domain's evolver. */
export const evolvedBy = <State, C extends Category>(
  evolver: Evolver<State, C>,
): Pick<DocumentModel<State>, 'category' | 'absent' | 'evolve'> => ({
  category: evolver.category,
  absent: evolver.initial,
  evolve: evolveRecorded(evolver),
})

/** Keeps one row per stream, with its state as JSON: for categories whose state is small and read whole. */
export async function applyToDocuments<State>(
  db: Statements,
  model: DocumentModel<State>,
  entries: readonly Recorded[],
): Promise<Statement[]> {
  return writesOfDocuments(model, await changedDocuments(db, model, entries))
}

/**
 * The changed documents, as they are after the events.
 * @param onEvent is called for each event that changes a document, with its state before and after
 */
export async function changedDocuments<State>(
  db: Statements,
  model: DocumentModel<State>,
  entries: readonly Recorded[],
  onEvent?: (before: State, after: State) => void,
): Promise<Document<State>[]> {
  const own = entries.filter(({ category }) => category === model.category)
  if (own.length === 0) return []
  const documents = await readDocuments(db, model, [...new Set(own.map(({ stream }) => stream))])
  const changed = new Map<string, Document<State>>()
  for (const recorded of own) {
    const { stream, revision } = recorded
    const before = documents.get(stream)
    if (before && before.revision >= revision) continue
    const state = before?.state ?? model.absent
    const after = { stream, revision, state: model.evolve(state, recorded) }
    onEvent?.(state, after.state)
    documents.set(stream, after)
    changed.set(stream, after)
  }
  return [...changed.values()]
}

async function readDocuments<State>(
  db: Statements,
  model: DocumentModel<State>,
  streams: readonly string[],
): Promise<Map<string, Document<State>>> {
  const { rows } = await db.query<Document<State>>({
    name: `${model.table}-to-apply`,
    text: `select stream, revision, state from ${model.table} where stream = any($1)`,
    values: [streams],
  })
  return new Map(rows.map((row) => [row.stream, row]))
}

export function writesOfDocuments<State>(
  model: DocumentModel<State>,
  documents: readonly Document<State>[],
): Statement[] {
  const rows = documents.map((document) => {
    const columns = model.columns(document.state)
    if (Object.keys(columns).length === 0)
      throw new RangeError(`${document.stream} does not begin as it should`)
    return { ...document, ...columns }
  })
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'stream')
  return writesOf(
    `write-${model.table}`,
    `insert into ${model.table} select * from json_populate_recordset(null::${model.table}, $1)
     on conflict (stream) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
     where ${model.table}.revision < excluded.revision`,
    rows,
  )
}
