import type { ClientBase, Pool } from 'pg'
import { readModelTables } from '../../projections/projectors.ts'

/** Every row of every read model as text, in an order that does not depend on when it was written. */
export async function dumpTables(db: Pool | ClientBase): Promise<Record<string, string[]>> {
  const dump: Record<string, string[]> = {}
  for (const table of readModelTables) {
    const { rows } = await db.query<{ row: string }>(
      `select to_json(t)::text as row from ${table} t order by 1`,
    )
    dump[table] = rows.map(({ row }) => row)
  }
  return dump
}

const positionField = /"((?:\w+_)?position)":(-?\d+)/g

/** The same with places in the order of the log instead of positions, which differ between two stores. */
export async function dumpWithoutPositions(db: Pool | ClientBase): Promise<Record<string, string[]>> {
  const dump = Object.entries(await dumpTables(db))
  const positions = dump.flatMap(([, rows]) =>
    rows.flatMap((row) => [...row.matchAll(positionField)].map(([, , position]) => Number(position))),
  )
  const places = new Map([...new Set(positions)].sort((a, b) => a - b).map((position, at) => [position, at]))
  const placed = (_: string, name: string, position: string) => `"${name}":${places.get(Number(position))}`
  return Object.fromEntries(
    dump.map(([table, rows]) => [table, rows.map((row) => row.replaceAll(positionField, placed)).sort()]),
  )
}
