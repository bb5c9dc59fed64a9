import type { Pool } from 'pg'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import type { LogReader } from '../../projections/runner/log.ts'
import { prepareReadModels } from '../../projections/runner/prepare.ts'

/**
 * A database with every table, new ones empty. The caller ends the pool.
 * @param migrationUrl the same database with the role that owns the durable schemas, when that is another one
 */
export async function openEmptyReadModels(databaseUrl: string, migrationUrl = databaseUrl): Promise<Pool> {
  await migrate(migrationUrl)
  const db = createPool(databaseUrl)
  await prepareReadModels(db, emptyLog, { onParked: () => undefined, onProgress: () => undefined })
  return db
}

const emptyLog: LogReader = {
  readPage: async () => ({ entries: [], through: undefined }),
  head: async () => undefined,
}
