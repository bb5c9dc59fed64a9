import type { ClientBase, Pool } from 'pg'

/** Runs work in a transaction, which is rolled back when the work throws. */
export async function inTransaction<T>(db: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = await db.connect()
  try {
    await client.query('begin')
    const done = await work(client)
    await client.query('commit')
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
