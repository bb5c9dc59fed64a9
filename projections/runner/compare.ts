import type { ClientBase } from 'pg'
import { inPipeline } from '../pipeline.ts'
import { readModelTables } from '../projectors.ts'

/** One set of tables, and a connection to read it through. */
export type Side = { db: ClientBase; schema: string }

/** A row that the live table and the replayed one do not both hold, as JSON. */
export type Difference = { table: string; side: 'only in live' | 'only in replay'; row: unknown }

/**
 * Compares two sets of tables row by row, both at a time. Rows are dealt into heaps by their digest: a heap that has
 * the same digest on both sides holds the same rows, and only those of the others are laid beside each other.
 * @param live its connection sees the tables of both
 */
export async function compareTables(
  live: Side,
  replayed: Side,
): Promise<{ rows: number; differences: Difference[] }> {
  const differences: Difference[] = []
  let rows = 0
  for (const table of readModelTables) {
    const [here, there] = await inPipeline([heapsOf(live, table), heapsOf(replayed, table)])
    for (const { count } of here.values()) rows += count
    const heaps = [...new Set([...here.keys(), ...there.keys()])]
    const differing = heaps.filter((heap) => here.get(heap)?.digest !== there.get(heap)?.digest)
    if (differing.length === 0) continue
    const onlyIn = (one: Side, other: Side, side: Difference['side']) =>
      rowsMissing(live.db, { table, heaps: differing, here: one.schema, there: other.schema, side })
    differences.push(...(await onlyIn(live, replayed, 'only in live')))
    differences.push(...(await onlyIn(replayed, live, 'only in replay')))
  }
  return { rows, differences }
}

type Heap = { heap: number; count: number; digest: string }

/** Of a row as text: `json` columns have no equality of their own, and byte for byte is what is promised. */
const digestOfRow = `sha256(convert_to(t::text, 'UTF8'))`

async function heapsOf({ db, schema }: Side, table: string): Promise<Map<number, Heap>> {
  const { rows } = await db.query<Heap>(
    `select get_byte(digest, 0) as heap, count(*)::int as count,
       encode(sha256(string_agg(digest, '' order by digest)), 'hex') as digest
     from (select ${digestOfRow} as digest from ${schema}.${table} t) as rows group by 1`,
  )
  return new Map(rows.map((row) => [row.heap, row]))
}

/** More than a person reads; the first ones tell what is wrong. */
const mostShown = 100

async function rowsMissing(
  db: ClientBase,
  asked: { table: string; heaps: readonly number[]; here: string; there: string; side: Difference['side'] },
): Promise<Difference[]> {
  const { table, heaps, here, there, side } = asked
  const rowsIn = (schema: string) =>
    `select to_json(t)::text as row from ${schema}.${table} t where get_byte(${digestOfRow}, 0) = any($1)`
  const { rows } = await db.query<{ row: string }>(
    `select row from (${rowsIn(here)} except all ${rowsIn(there)}) as missing limit ${mostShown}`,
    [heaps],
  )
  return rows.map(({ row }): Difference => ({ table, side, row: JSON.parse(row) }))
}
