import type { QueryResult, QueryResultRow } from 'pg'

/** What is prepared once a connection, under its name. */
export type Statement = { name: string; text: string; values?: unknown[] }

/** Where statements of one moment go out together, in the order of the calls. */
export type Statements = {
  query<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>>
}

/** What writes rows, given to it as JSON; nothing when there are none. */
export const writesOf = (name: string, text: string, rows: readonly object[]): Statement[] =>
  rows.length === 0 ? [] : [{ name, text, values: [JSON.stringify(rows)] }]

/** Runs statements whose answers nobody needs, in their order. */
export async function runAll(db: Statements, statements: readonly Statement[]): Promise<void> {
  await Promise.all(statements.map((statement) => db.query(statement)))
}
