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
