import pg from 'pg'

/** The schema that holds every read model. A rebuild fills another one and swaps the two. */
export const liveSchema = 'read_models'

const bigintType = 20
const timestamptzType = 1184

/** `2026-11-21 09:30:00.5+00` as the log writes it; the session speaks UTC. Milliseconds are all that it holds. */
function momentOf(text: string): string {
  const fraction = text.slice(20, text.lastIndexOf('+'))
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
}

const types = new pg.TypeOverrides()
types.setTypeParser(bigintType, BigInt)
types.setTypeParser(timestamptzType, momentOf)

/**
 * The one plan is kept while its tables grow from nothing, so it must not read a whole one, as is right for a few
 * rows: every step goes by an index.
 */
const keyedPlans = [
  ['plan_cache_mode', 'force_generic_plan'],
  ['enable_seqscan', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  ['enable_material', 'off'],
]

/** What is planned on a connection between the two goes by keys. */
export const beginKeyedPlans: string = keyedPlans.map(([name, value]) => `set ${name} = ${value}`).join('; ')
export const endKeyedPlans: string = keyedPlans.map(([name]) => `reset ${name}`).join('; ')

export type PoolOptions = {
  size?: number
  statementTimeoutMs?: number
  /** Longer than the server may take. A connection that gives no answer by then is ended and replaced. */
  answerTimeoutMs?: number
  /**
   * For statements that go by key, whose plan does not depend on what is asked for: each is planned once a connection.
   * Planning one anew takes longer than running it.
   */
  planOnce?: boolean
  onError?: (error: Error) => void
}

/**
 * Connections whose unqualified table names mean the live read models. A transaction that stalls is ended by the
 * server, so that a process which stops in the middle of one cannot hold the projection's lock for ever.
 */
export function createPool(databaseUrl: string, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.size ?? 10,
    options: [
      `search_path=${liveSchema}`,
      'timezone=UTC',
      'idle_in_transaction_session_timeout=5000',
      ...(options.planOnce ? keyedPlans.map((setting) => setting.join('=')) : []),
    ]
      .map((setting) => `-c ${setting}`)
      .join(' '),
    statement_timeout: options.statementTimeoutMs ?? 15_000,
    // A network that swallows everything would otherwise be waited for until the system gives up, a quarter of an hour.
    query_timeout: options.answerTimeoutMs ?? 20_000,
    connectionTimeoutMillis: 5000,
    application_name: 'keyledger',
    types,
    // Statements that do not wait for each other's answers go out together.
    pipeline: true,
  })
  // An idle connection that the server ends is replaced by the next query's; without a listener it would crash us.
  pool.on('error', options.onError ?? (() => undefined))
  return pool
}
