import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import { projectionLock } from '../database/advisory-locks.ts'
import { liveSchema } from '../database/pool.ts'
import { inTransaction } from '../database/transaction.ts'
import type { LogReader } from './log.ts'
import { readCheckpoint, runBatch } from './read-models.ts'
import { type RebuildOptions, rebuild } from './rebuild.ts'
import { ScratchInUse } from './replay.ts'
import { createReadModelSchema, fingerprint, liveFingerprint, startOfLog } from './schema.ts'

/** The number of events from which on a rebuild is faster than catching up in batches. */
const maxCatchUpFromNothing = 5000

/**
 * Prepares the live tables at start: creates missing ones, rebuilds those of another version from the log, and applies
 * the log up to its current head. Empty tables beside a long log, as after a move to a new database, are rebuilt.
 * Safe when several processes start at once.
 * @param most how many events are applied to empty tables before they are rebuilt instead
 */
export async function prepareReadModels(
  db: Pool,
  log: LogReader,
  options: RebuildOptions,
  most = maxCatchUpFromNothing,
): Promise<void> {
  const found = await makeMissingTables(db)
  const isEmpty = (await readCheckpoint(db)) === startOfLog
  if (found !== fingerprint || (isEmpty && !(await catchUp(db, log, options, most)))) {
    await rebuildOnce(db, log, options)
  }
  await catchUp(db, log, options)
}

/**
 * Creates the empty live tables when there are none.
 * @returns the fingerprint of the live tables; existing ones may be of another version
 */
export async function makeMissingTables(db: Pool): Promise<string> {
  // Takes the projection lock only when tables are missing.
  return (await liveFingerprint(db)) ?? (await makeLiveTables(db))
}

/**
 * Applies the missing events: a process may have died after an append and before it advanced the read models.
 * @param most stops after about this number of events
 * @returns whether the head was reached
 */
async function catchUp(
  db: Pool,
  log: LogReader,
  { onParked, onProgress }: RebuildOptions,
  most = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const head = (await log.head()) ?? startOfLog
  let events = 0
  for (let position = await readCheckpoint(db); position < head; ) {
    const batch = await runBatch(db, log, onParked)
    if (batch.to === position) return true
    position = batch.to
    events += batch.events
    onProgress({ events, position, head })
    if (events >= most && position < head) return false
  }
  return true
}

/** When several processes start a new version at once, one rebuilds and the others wait. */
async function rebuildOnce(db: Pool, log: LogReader, options: RebuildOptions): Promise<void> {
  for (;;) {
    try {
      return await rebuild(db, log, options)
    } catch (error) {
      if (!(error instanceof ScratchInUse)) throw error
      await setTimeout(1000)
      if ((await liveFingerprint(db)) === fingerprint) return
    }
  }
}

/** Creates the empty live tables unless another process just did. @returns their fingerprint */
function makeLiveTables(db: Pool): Promise<string> {
  return inTransaction(db, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [projectionLock])
    const live = await liveFingerprint(client)
    if (live === undefined) {
      await client.query(`drop schema if exists ${liveSchema} cascade`)
      await createReadModelSchema(client, liveSchema)
    }
    return live ?? fingerprint
  })
}
