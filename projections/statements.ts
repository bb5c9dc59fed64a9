import type { QueryResult, QueryResultRow } from 'pg'

/** A statement that each connection prepares once, under its name. */
export type Statement = { name: string; text: string; values?: unknown[] }

/** Runs statements. Those of one tick are sent together, in the order of the calls. */
export type Statements = {
  query<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>>
}

/** The statement that writes rows, passed to it as one JSON array; none when there are no rows. */
export const writesOf = (name: string, text: string, rows: readonly object[]): Statement[] =>
  rows.length === 0 ? [] : [{ name, text, values: [JSON.stringify(rows)] }]

/** Runs statements in order and discards their results. */
export async function runAll(db: Statements, statements: readonly Statement[]): Promise<void> {
  await Promise.all(statements.map((statement) => db.query(statement)))
}
