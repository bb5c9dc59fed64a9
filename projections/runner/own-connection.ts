import pg, { type ClientBase, type Pool } from 'pg'

/**
 * Runs one long piece of work, no statement of which is a request that somebody waits for, on a connection of its own:
 * what the work sets and locks on it is nobody else's, and ends with it.
 */
export async function withOwnConnection<T>(db: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...db.options, statement_timeout: 0, query_timeout: 0 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('set idle_in_transaction_session_timeout = 0')
    return await work(client)
  } finally {
    // The connection ends in its own time; whoever comes next need not wait for that.
    await client.query('rollback; select pg_advisory_unlock_all()').catch(() => undefined)
    void client.end().catch(() => undefined)
  }
}
