import pg, { type ClientBase, type Pool } from 'pg'

/**
 * Runs long work on a dedicated connection without statement timeouts. Its settings and locks end with the connection.
 */
export async function withOwnConnection<T>(db: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...db.options, statement_timeout: 0, query_timeout: 0 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('set idle_in_transaction_session_timeout = 0')
    return await work(client)
  } finally {
    // Releases the locks now, since ending the connection may take a while.
    await client.query('rollback; select pg_advisory_unlock_all()').catch(() => undefined)
    void client.end().catch(() => undefined)
  }
}
