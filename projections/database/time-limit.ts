import pg, { type Pool, type QueryResultRow } from 'pg'
import { inTransaction } from './transaction.ts'

/** SQLSTATE of a statement that its time limit ended. */
const canceled = '57014'

/**
 * Runs a query that may find too much to read in time.
 * @returns undefined when the time limit ended it
 */
export async function rowsWithin<Row extends QueryResultRow>(
  db: Pool,
  timeLimitMs: number,
  text: string,
  values: readonly unknown[],
): Promise<Row[] | undefined> {
  try {
    return await inTransaction(db, async (client) => {
      await client.query(`set local statement_timeout = ${timeLimitMs}`)
      const { rows } = await client.query<Row>(text, [...values])
      return rows
    })
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === canceled) return undefined
    throw error
  }
}
