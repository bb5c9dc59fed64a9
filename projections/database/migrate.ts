import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import pg from 'pg'

/** The durable schemas are not this version's, and the role that asked may not change them. */
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

/** Of its own table the runner keeps only the words. */
const isRefused = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? error.code === '42501'
    : error instanceof Error &&
      /^Unable to ensure migrations table: error: (?:permission denied|must be owner)/.test(error.message)

const directory = fileURLToPath(new URL('./migrations', import.meta.url))

/** The migrations that this version knows, in order. */
export const knownMigrations = (): string[] =>
  readdirSync(directory)
    .map((name) => name.replace(/\.sql$/, ''))
    .sort()

/**
 * Brings the durable schemas (`vault`, `usage`) to this version. Plain SQL, all in one transaction, under an
 * advisory lock: of two processes that start at once the second waits and then finds nothing left to do.
 * @param most applies no more than so many, for the tables of an earlier version
 * @returns the names of the migrations that were applied
 * @throws MigrationNotAllowed
 */
export async function migrate(databaseUrl: string, most = Number.POSITIVE_INFINITY): Promise<string[]> {
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
