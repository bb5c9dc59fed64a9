import type { ClientBase, Pool, QueryResultRow } from 'pg'
import pg from 'pg'

/** Runs work in a transaction, which is rolled back when the work throws. */
export function inTransaction<T>(db: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  return rolledBackOnFailure(db, async (client) => {
    await client.query('begin')
    const done = await work(client)
    await client.query('commit')
    return done
  })
}

/** Runs work that begins and commits its own transaction, which is rolled back when the work throws. */
export async function rolledBackOnFailure<T>(db: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = await db.connect()
  try {
    const done = await work(client)
    client.release()
    return done
  } catch (error) {
    await client.query('rollback').then(
      () => client.release(),
      (failed: Error) => client.release(failed),
    )
    throw error
  }
}

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
