import type { Evolver } from '../src/domain/decider.ts'
import type { Category } from '../src/domain/events.ts'
import { evolveRecorded, type Recorded } from '../src/domain/recorded.ts'
import type { Projector } from './projector.ts'
import type { Statement, Statements } from './statements.ts'
import {
  type Column,
  type Columns,
  type ColumnsOf,
  defineTable,
  type Table,
  type TableOptions,
  type ValueOf,
} from './table.ts'

export type Document<State> = { stream: string; revision: number; state: State }

/**
 * One row per stream, with its state as JSON beside the columns that queries need: for categories whose state is small and
 * read whole.
 */
export type Documents<State> = {
  /** Of the table. */
  name: string
  ddl: string
  /**
   * The changed documents, as they are after the events.
   * @param onEvent is called for each event that changes a document, with its state before and after
   */
  changed(
    db: Statements,
    entries: readonly Recorded[],
    onEvent?: (before: State, after: State) => void,
  ): Promise<Document<State>[]>
  write(documents: readonly Document<State>[]): Statement[]
}

/** How a document follows from the events of its stream. */
export type Source<State> = {
  category: Category
  absent: State
  evolve: (state: State, recorded: Recorded) => State
}

/** The domain's own evolver as the source of documents, so that a read model cannot differ from the log. */
export const evolvedBy = <State, C extends Category>(evolver: Evolver<State, C>): Source<State> => ({
  category: evolver.category,
  absent: evolver.initial,
  evolve: evolveRecorded(evolver),
})

type Definition<State, Begun, Computed extends Columns> = Omit<
  TableOptions<keyof Computed & string>,
  'key' | 'over'
> & {
  table: string
  /** The state of a stream that has begun; undefined for one that has not. */
  begun: (state: State) => Begun | undefined
  /** Fields of the state that have a column, beside `stream`, `revision` and `state`. */
  columns: Partial<ColumnsOf<NoInfer<Begun>>>
  /** Columns that follow from the state: how each is defined, and what it holds. */
  computed?: {
    readonly [Name in keyof Computed]: readonly [
      Computed[Name],
      (state: NoInfer<Begun>) => ValueOf<Computed[Name]>,
    ]
  }
}

export function defineDocuments<State, Begun extends object, const Computed extends Columns>(
  { category, absent, evolve }: Source<State>,
  { table: name, begun, columns, computed, ...options }: Definition<State, Begun, Computed>,
): Documents<State> {
  const derived = Object.entries<readonly [Column, (state: Begun) => unknown]>(computed ?? {})
  const definitions: Columns = {
    stream: 'text not null',
    revision: 'int not null',
    state: 'jsonb not null',
    ...columns,
    ...Object.fromEntries(derived.map(([field, [column]]) => [field, column])),
  }
  const table: Table<Record<string, unknown>> = defineTable(name, definitions, {
    ...options,
    key: ['stream'],
    over: 'older row',
  })

  async function read(db: Statements, streams: readonly string[]): Promise<Map<string, Document<State>>> {
    const { rows } = await db.query<Document<State>>({
      name: `${name}-to-apply`,
      text: `select stream, revision, state from ${name} where stream = any($1)`,
      values: [streams],
    })
    return new Map(rows.map((row) => [row.stream, row]))
  }

  return {
    name,
    ddl: table.ddl,
    async changed(db, entries, onEvent) {
      const own = entries.filter((entry) => entry.category === category)
      if (own.length === 0) return []
      const documents = await read(db, [...new Set(own.map(({ stream }) => stream))])
      const changed = new Map<string, Document<State>>()
      for (const recorded of own) {
        const { stream, revision } = recorded
        const before = documents.get(stream)
        if (before && before.revision >= revision) continue
        const state = before?.state ?? absent
        const after = { stream, revision, state: evolve(state, recorded) }
        onEvent?.(state, after.state)
        documents.set(stream, after)
        changed.set(stream, after)
      }
      return [...changed.values()]
    },
    write: (documents) =>
      table.write(
        documents.map((document) => {
          const state: Begun | undefined = begun(document.state)
          if (state === undefined) throw new RangeError(`${document.stream} does not begin as it should`)
          const values = Object.fromEntries(derived.map(([field, [, held]]) => [field, held(state)]))
          const fields: object = state
          return { ...fields, ...document, ...values }
        }),
      ),
  }
}

/** The statements that bring documents up to date with the events. */
export const applyToDocuments = async <State>(
  documents: Documents<State>,
  db: Statements,
  entries: readonly Recorded[],
): Promise<Statement[]> => documents.write(await documents.changed(db, entries))

/** A read model that consists of documents alone. */
export const projectorOf = <State>(documents: Documents<State>): Projector => ({
  name: documents.name,
  tables: [documents],
  apply: (db, entries) => applyToDocuments(documents, db, entries),
})

/**
 * De-duplicates items by key. Concurrent lookups often concern the same token or product, which is then looked up once.
 * @returns for each item, the index of the first item with the same key
 */
export function firstByKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): number[] {
  const first = new Map<string, number>()
  return items.map((item, index) => {
    const key = keyOf(item)
    const firstIndex = first.get(key) ?? index
    first.set(key, firstIndex)
    return firstIndex
  })
}
