import pg, { type ClientBase, type Connection, type QueryResult, type QueryResultRow } from 'pg'
import type { Statement, Statements } from '../statements.ts'

/**
 * A connection whose statements of one moment are sent in one message and answered in one: the client by itself asks
 * for an answer behind each, which wakes both sides every time. Where one fails, those behind it are not run, and all
 * of the message fail with what it threw.
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
      // Once everything that the last answer set going has asked.
      if (queued.length === 0) process.nextTick(send)
      // What its rows look like is the asker's word, as in the client's own queries.
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

/** A query to the client, which hands it the connection to write to and tells it what comes back. */
class StatementBatch extends pg.Query {
  readonly #asked: readonly QueuedStatement[]
  #connection: Connection | undefined

  constructor(asked: readonly QueuedStatement[]) {
    super('', (error, result) => this.#settle(error, result))
    this.#asked = asked
  }

  override submit = (connection: Connection): void => {
    this.#connection = connection
    const { prepared, shared } = batchViewOf(connection)
    connection.stream.cork()
    for (const { statement } of this.#asked) {
      // A message that failed may have prepared it.
      if (!(statement.name in prepared)) connection.close({ type: 'S', name: statement.name }, true)
      new pg.Query(statement).submit(shared)
    }
    connection.sync()
    connection.stream.uncork()
  }

  /** The client gives one result by itself and several as a list, which its types do not say. */
  #settle(error: Error | undefined, result: QueryResult | QueryResult[]): void {
    if (error) {
      if (this.#connection) batchViews.delete(this.#connection)
      for (const { reject } of this.#asked) reject(error)
      return
    }
    const results = [result].flat()
    for (const [index, { resolve, reject }] of this.#asked.entries()) {
      const own = results[index]
      if (own) resolve(own)
      else reject(new Error('a statement has no answer'))
    }
  }
}

/** `shared` is the connection as one query of several sees it, which asks for no answer of its own. */
type BatchView = { prepared: Record<string, string>; shared: Connection }

const batchViews = new WeakMap<Connection, BatchView>()

function batchViewOf(connection: Connection): BatchView {
  const known = batchViews.get(connection)
  if (known) return known
  const prepared: Record<string, string> = {}
  const own = new Map<PropertyKey, unknown>([
    ['sync', () => undefined],
    // Where a query looks whether it has been prepared, and says so.
    ['parsedStatements', prepared],
    ['submittedNamedStatements', prepared],
  ])
  const get = (target: Connection, property: PropertyKey): unknown =>
    own.has(property) ? own.get(property) : Reflect.get(target, property)
  const sharing = { prepared, shared: new Proxy(connection, { get }) }
  batchViews.set(connection, sharing)
  return sharing
}
