import type { ClientBase, Pool } from 'pg'

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
