import type { Pool } from 'pg'
import { liveSchema } from '../database/pool.ts'
import type { LogReader } from './log.ts'
import { type RebuildOptions, rebuild } from './rebuild.ts'
import { inTransaction } from './round.ts'
import { createReadModelSchema, fingerprint, liveFingerprint, projectionLock } from './schema.ts'

/**
 * Makes sure that the live tables are there and are this version's: missing ones are made empty, an older
 * version's are rebuilt from the log. Safe when several processes start at once.
 * @returns whether a rebuild was needed
 */
export async function prepareReadModels(db: Pool, log: LogReader, options: RebuildOptions): Promise<boolean> {
  const found = await inTransaction(db, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [projectionLock])
    const live = await liveFingerprint(client)
    if (live !== undefined) return live
    await client.query(`drop schema if exists ${liveSchema} cascade`)
    await createReadModelSchema(client, liveSchema)
    return fingerprint
  })
  if (found === fingerprint) return false
  await rebuild(db, log, options)
  return true
}
