import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Removes the database, whoever is still connected to it. */
  drop(): Promise<void>
}

/** Creates an empty database of the caller's own on the Postgres of the test run. */
export const createTestDatabase = (): Promise<TestDatabase> => createDatabaseOn(inject('postgresUrl'))

/** The same with the tables of this version, all empty: a copy is made in a third of the time. */
export const createLedgerDatabase = (): Promise<TestDatabase> =>
  createDatabaseOn(inject('postgresUrl'), inject('ledgerTemplate'))

/** @param template a database that nobody is connected to */
export async function createDatabaseOn(server: string, template?: string): Promise<TestDatabase> {
  const name = `keyledger_test_${randomBytes(8).toString('hex')}`
  await execute(server, `create database ${name}${template === undefined ? '' : ` template ${template}`}`)
  return {
    name,
    url: withDatabase(server, name),
    drop: () => dropDatabase(server, name),
  }
}

/**
 * `with (force)` would be refused while autovacuum is in the database: it runs as a superuser, whom the tests' role may not
 * end. A plain drop asks autovacuum to leave, and waits for it.
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

/** The address with another database. `URL` refuses the empty host that a socket's address has. */
function withDatabase(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${name}`)
}
