import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import pg, { type ClientBase } from 'pg'
import { Connection } from './connection.ts'

/** The durable schemas are not of this version, and the database role may not change them. */
export class MigrationNotAllowed extends Error {
  constructor(cause: unknown) {
    super(
      'The tables in Postgres are not those of this version, and this role may not change them. ' +
        'Run keyledger migrate with KEYLEDGER_MIGRATION_DATABASE_URL first.',
      { cause },
    )
    this.name = 'MigrationNotAllowed'
  }
}

/** For its own migrations table the runner passes on only the error's message. */
const isRefused = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? error.code === '42501'
    : error instanceof Error &&
      /^Unable to ensure migrations table: error: (?:permission denied|must be owner)/.test(error.message)

/** After it, the runner waits for Postgres, as long as it takes. */
const timeLimitMs = 5000

const directory = fileURLToPath(new URL('./migrations', import.meta.url))

/** The names of this version's migrations, in order. */
export const knownMigrations = (): string[] =>
  readdirSync(directory)
    .map((name) => name.replace(/\.sql$/, ''))
    .sort()

/** The names of the migrations that a database has, in the order in which they were applied. */
export async function appliedMigrations(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select name from public.keyledger_migrations order by id',
  )
  return rows.map(({ name }) => name)
}

/**
 * Whether a database has the migrations of this version and no others. The runner would find the same, but loading it takes
 * 60 ms and 4 MB.
 */
async function isMigrated(databaseUrl: string): Promise<boolean> {
  const client = new Connection({
    connectionString: databaseUrl,
    connectionTimeoutMillis: timeLimitMs,
    query_timeout: timeLimitMs,
  })
  try {
    await client.connect()
    return isDeepStrictEqual(await appliedMigrations(client), knownMigrations())
  } catch {
    // The runner meets the same, and says what it is.
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * Migrates the durable schemas (`vault`, `usage`, `limits`, `operations`) to this version. All migrations run in one
 * transaction under an advisory lock: a second process that starts at the same time waits and then applies none.
 * @param most the number of migrations to apply at most, to get the tables of an earlier version
 * @returns the names of the applied migrations
 * @throws MigrationNotAllowed
 */
export async function migrate(databaseUrl: string, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  if (await isMigrated(databaseUrl)) return []
  const { runner } = await import('node-pg-migrate')
  const applied = await runner({
    databaseUrl,
    dir: directory,
    direction: 'up',
    count: most,
    migrationsTable: 'keyledger_migrations',
    advisoryLockMode: 'wait',
    log: () => undefined,
  }).catch((error: unknown) => {
    throw isRefused(error) ? new MigrationNotAllowed(error) : error
  })
  return applied.map(({ name }) => name)
}
