import pg, { type ClientBase, type ClientConfig, type Pool } from 'pg'

/**
 * The only client of Postgres that this project makes, alone and in pools. A connection can end at any moment, also
 * between two statements; it then emits an error, which would end the process if there were no listener. What uses the
 * connection learns it from its next statement, which rejects, and a pool drops it when it is released.
 */
export class Connection extends pg.Client {
  constructor(config?: string | ClientConfig) {
    super(config)
    this.on('error', () => undefined)
  }
}

/**
 * Runs work on a connection of a pool. The work leaves no transaction and no lock behind; when it fails, the connection
 * is closed, which ends both.
 * @param close whether the connection is closed in any case
 */
export async function withConnection<T>(
  db: Pool,
  work: (client: ClientBase) => Promise<T>,
  { close = false }: { close?: boolean } = {},
): Promise<T> {
  const client = await db.connect()
  try {
    const done = await work(client)
    client.release(close)
    return done
  } catch (error) {
    client.release(true)
    throw error
  }
}

/**
 * Runs long work on a connection outside the pool, without statement timeouts. Its settings and locks end with the
 * connection.
 */
export async function withOwnConnection<T>(db: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = new Connection({ ...db.options, statement_timeout: 0, query_timeout: 0 })
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
