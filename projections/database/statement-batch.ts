import pg, { type ClientBase, type Connection, type QueryResult, type QueryResultRow } from 'pg'
import type { Statement, Statements } from '../statements.ts'

/**
 * Batches the statements of one tick: they are sent in one message with one Sync, so both sides wake up once. The
 * client itself sends a Sync after each statement. When a statement fails, the whole batch is rolled back and all of
 * its promises reject with the error.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export function batchStatements(client: ClientBase): Statements {
  let queued: QueuedStatement[] = []
  const send = () => {
    client.query(new StatementBatch(queued))
    queued = []
  }
  return {
    query<Row extends QueryResultRow>(statement: Statement) {
      const { promise, resolve, reject } = Promise.withResolvers<QueryResult<Row>>()
      // After this tick, so that all callers that the last answer resumed are included.
      if (queued.length === 0) process.nextTick(send)
      // The caller asserts the row type, as in the client's own queries.
      queued.push({ statement, resolve: (result) => resolve(result as QueryResult<Row>), reject })
      return promise
    },
  }
}

type QueuedStatement = {
  statement: Statement
  resolve: (result: QueryResult) => void
  reject: (error: Error) => void
}

/** One query to the client, which submits all statements of the batch and receives all results. */
class StatementBatch extends pg.Query {
  readonly #statements: readonly QueuedStatement[]
  #connection: Connection | undefined

  constructor(statements: readonly QueuedStatement[]) {
    super('', (error, result) => this.#settle(error, result))
    this.#statements = statements
  }

  override submit = (connection: Connection): void => {
    this.#connection = connection
    const { prepared, shared } = batchViewOf(connection)
    connection.stream.cork()
    for (const { statement } of this.#statements) {
      // A failed batch may have prepared the statement under this name.
      if (!(statement.name in prepared)) connection.close({ type: 'S', name: statement.name }, true)
      new pg.Query(statement).submit(shared)
    }
    connection.sync()
    connection.stream.uncork()
  }

  /** The client passes a single result as such and several as an array, unlike its types. */
  #settle(error: Error | undefined, result: QueryResult | QueryResult[]): void {
    if (error) {
      if (this.#connection) batchViews.delete(this.#connection)
      for (const { reject } of this.#statements) reject(error)
      return
    }
    const results = [result].flat()
    for (const [index, { resolve, reject }] of this.#statements.entries()) {
      const own = results[index]
      if (own) resolve(own)
      else reject(new Error('a statement has no answer'))
    }
  }
}

/** `shared` is the connection as a query of the batch sees it: without Sync, with the batch's prepared statements. */
type BatchView = { prepared: Record<string, string>; shared: Connection }

const batchViews = new WeakMap<Connection, BatchView>()

function batchViewOf(connection: Connection): BatchView {
  const known = batchViews.get(connection)
  if (known) return known
  const prepared: Record<string, string> = {}
  const own = new Map<PropertyKey, unknown>([
    ['sync', () => undefined],
    // Where the client tracks which statements are prepared.
    ['parsedStatements', prepared],
    ['submittedNamedStatements', prepared],
  ])
  const get = (target: Connection, property: PropertyKey): unknown =>
    own.has(property) ? own.get(property) : Reflect.get(target, property)
  const view = { prepared, shared: new Proxy(connection, { get }) }
  batchViews.set(connection, view)
  return view
}
