import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Removes the database and closes all connections to it. */
  drop(): Promise<void>
}

/** Creates an empty database on the Postgres of the test run. */
export const createTestDatabase = (): Promise<TestDatabase> => createDatabaseOn(inject('postgresUrl'))

/**
 * Creates a database with the empty tables of this version. Copying a template takes a third of the time of
 * creating them.
 */
export const createLedgerDatabase = (): Promise<TestDatabase> =>
  createDatabaseOn(inject('postgresUrl'), inject('ledgerTemplate'))

/** @param template a database without connections */
export async function createDatabaseOn(server: string, template?: string): Promise<TestDatabase> {
  const name = `keyledger_test_${randomBytes(8).toString('hex')}`
  // A copy of the files, without the log of writes, takes half the time.
  const copied = template === undefined ? '' : ` template ${template} strategy file_copy`
  await execute(server, `create database ${name}${copied}`)
  return {
    name,
    url: withDatabase(server, name),
    drop: () => dropDatabase(server, name),
  }
}

/**
 * `drop database with (force)` fails while autovacuum works in the database: it runs as a superuser, whose backends
 * the tests' role may not terminate. A plain drop signals autovacuum and waits for it.
 */
async function dropDatabase(server: string, name: string): Promise<void> {
  await execute(
    server,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = '${name}' and backend_type = 'client backend'`,
  )
  await execute(server, `drop database if exists ${name}`)
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The URL with another database name. `URL` rejects the empty host of a socket URL. */
function withDatabase(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${name}`)
}
