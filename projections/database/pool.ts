import pg from 'pg'
import { Connection } from './connection.ts'

/** The schema with all read models. A rebuild fills another one and swaps the two. */
export const liveSchema = 'read_models'

const bigintType = 20
const timestamptzType = 1184

/** Converts `2026-11-21 09:30:00.5+00` to `2026-11-21T09:30:00.500Z`; sessions use UTC. */
function momentOf(text: string): string {
  const fraction = text.slice(20, text.lastIndexOf('+'))
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
}

const types = new pg.TypeOverrides()
types.setTypeParser(bigintType, BigInt)
types.setTypeParser(timestamptzType, momentOf)

/**
 * Settings for plans that are made once and kept while the tables grow from empty. For a few rows the planner would
 * choose sequential scans; with these settings every step uses an index.
 */
const keyedPlans = [
  ['plan_cache_mode', 'force_generic_plan'],
  ['enable_seqscan', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  ['enable_material', 'off'],
]

/** Statements that a connection plans between `beginKeyedPlans` and `endKeyedPlans` use indexes only. */
export const beginKeyedPlans: string = keyedPlans.map(([name, value]) => `set ${name} = ${value}`).join('; ')
export const endKeyedPlans: string = keyedPlans.map(([name]) => `reset ${name}`).join('; ')

export type PoolOptions = {
  size?: number
  statementTimeoutMs?: number
  /** Must exceed `statementTimeoutMs`. A connection without an answer by then is closed and replaced. */
  answerTimeoutMs?: number
  /**
   * Plans each statement once per connection. For lookups by key, whose plan does not depend on the parameters:
   * planning them takes longer than running them.
   */
  planOnce?: boolean
  onError?: (error: Error) => void
}

/**
 * Creates a connection pool whose search path is the live read models. Postgres ends idle transactions after 5 s, so
 * that a process that stops within a transaction cannot keep the projection lock.
 */
export function createPool(databaseUrl: string, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    Client: Connection,
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
    // Without it a query on a dead network would wait for TCP to give up, about 15 minutes.
    query_timeout: options.answerTimeoutMs ?? 20_000,
    connectionTimeoutMillis: 5000,
    application_name: 'keyledger',
    types,
    // Sends concurrent statements of a connection without awaiting each answer.
    pipeline: true,
  })
  // The pool replaces idle connections that Postgres ends; without a listener the error would end the process.
  pool.on('error', options.onError ?? (() => undefined))
  return pool
}
