import type { QueryResult, QueryResultRow } from 'pg'

/** What is prepared once a connection, under its name. */
export type Statement = { name: string; text: string; values?: unknown[] }

/** Where a projector asks and writes: statements of one moment go out together, in the order of the calls. */
export type Statements = {
  query<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>>
}

/** Writes rows given as JSON in one statement; without rows nothing is sent. */
export async function writeRows(
  db: Statements,
  name: string,
  text: string,
  rows: readonly object[],
): Promise<void> {
  if (rows.length > 0) await db.query({ name, text, values: [JSON.stringify(rows)] })
}
