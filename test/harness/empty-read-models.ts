import type { Pool } from 'pg'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import type { LogReader } from '../../projections/runner/log.ts'
import { prepareReadModels } from '../../projections/runner/prepare.ts'

/** A database with every table and, where they are new, nothing folded into them. Whoever asked ends the pool. */
export async function openEmptyReadModels(databaseUrl: string): Promise<Pool> {
  await migrate(databaseUrl)
  const db = createPool(databaseUrl)
  await prepareReadModels(db, emptyLog, { onParked: () => undefined, onProgress: () => undefined })
  return db
}

const emptyLog: LogReader = {
  readPage: async () => ({ entries: [], through: undefined }),
  head: async () => undefined,
}
