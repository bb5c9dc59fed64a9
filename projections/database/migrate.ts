import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'

/**
 * Brings the durable schemas (`vault`, `usage`) to this version. Plain SQL, all in one transaction, under an
 * advisory lock: of two processes that start at once the second waits and then finds nothing left to do.
 * @returns the names of the migrations that were applied
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const applied = await runner({
    databaseUrl,
    dir: fileURLToPath(new URL('./migrations', import.meta.url)),
    direction: 'up',
    migrationsTable: 'keyledger_migrations',
    advisoryLockMode: 'wait',
    log: () => undefined,
  })
  return applied.map(({ name }) => name)
}
