import pg from 'pg'

/** The schema that holds every read model. A rebuild fills another one and swaps the two. */
export const liveSchema = 'read_models'

// Positions and counts stay well below 2^53, where a JavaScript number is exact.
const bigintType = 20

export type PoolOptions = { size?: number; statementTimeoutMs?: number; onError?: (error: Error) => void }

/**
 * Connections whose unqualified table names mean the live read models. A transaction that stalls is ended by the
 * server, so that a process which stops in the middle of one cannot hold the projection's lock for ever.
 */
export function createPool(databaseUrl: string, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.size ?? 10,
    options: `-c search_path=${liveSchema} -c idle_in_transaction_session_timeout=5000`,
    statement_timeout: options.statementTimeoutMs ?? 15_000,
    connectionTimeoutMillis: 5000,
    application_name: 'keyledger',
    types: {
      getTypeParser: (oid, format) => (oid === bigintType ? BigInt : pg.types.getTypeParser(oid, format)),
    },
  })
  // An idle connection that the server ends is replaced by the next query's; without a listener it would crash us.
  pool.on('error', options.onError ?? (() => undefined))
  return pool
}
