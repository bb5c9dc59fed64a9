import type { Pool } from 'pg'
import { liveSchema } from '../database/pool.ts'
import type { OnParked } from './apply.ts'
import type { LogReader } from './log.ts'
import { type Progress, replay, withScratchSchema } from './replay.ts'
import { projectionLock } from './schema.ts'

const nextSchema = `${liveSchema}_next`
const rebuildLock = projectionLock + 1

export type RebuildOptions = { onParked: OnParked; onProgress: (progress: Progress) => void }

/**
 * Folds the whole log into a fresh schema beside the live one and then swaps the two, with the live tables
 * answering all the while. Killed at any point it leaves the live tables as they were; the next rebuild clears away
 * what it left. Parked streams are tried again.
 * @throws when another rebuild is running
 */
export async function rebuild(db: Pool, log: LogReader, options: RebuildOptions): Promise<void> {
  await withScratchSchema(db, nextSchema, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      rebuildLock,
    ])
    if (!rows[0]?.locked) throw new Error('another rebuild is running; wait for it or stop it')
    await client.query('set synchronous_commit = off')
    await replay(client, log, options)
    await client.query('analyze; set synchronous_commit = on')
    // Only what was written since stands between the two now. The lock keeps it from growing while they change.
    await client.query('select pg_advisory_lock($1)', [projectionLock])
    await replay(client, log, options)
    await client.query(
      `begin;
       drop schema if exists ${liveSchema} cascade;
       alter schema ${nextSchema} rename to ${liveSchema};
       commit;
       select pg_advisory_unlock(${projectionLock})`,
    )
  })
}
