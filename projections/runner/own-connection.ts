import type { Pool, PoolClient } from 'pg'

/**
 * Runs one long piece of work, no statement of which is a request that somebody waits for, on a connection that ends
 * afterwards: what the work has set and locked on it is nobody else's.
 */
export async function withOwnConnection<T>(db: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await db.connect()
  client.on('error', () => undefined)
  try {
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
    return await work(client)
  } finally {
    // The connection ends in its own time; whoever comes next need not wait for that.
    await client.query('rollback; select pg_advisory_unlock_all()').catch(() => undefined)
    client.release(true)
  }
}
