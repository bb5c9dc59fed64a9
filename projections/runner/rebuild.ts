import { setTimeout } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { projectionLock, rebuildLock } from '../database/advisory-locks.ts'
import { liveSchema } from '../database/pool.ts'
import type { OnParked } from './apply.ts'
import { readCheckpoint } from './batch.ts'
import type { LogReader } from './log.ts'
import { type Progress, replay, withScratchSchema } from './replay.ts'
import { beforeAll } from './schema.ts'

const nextSchema = `${liveSchema}_next`
const formerSchema = `${liveSchema}_former`
export type RebuildOptions = {
  onParked: OnParked
  onProgress: (progress: Progress) => void
  /** Told once it is certain that no other one is running, before anything is done; it may still refuse by throwing. */
  onStarted?: () => Promise<void>
}

/**
 * Folds the whole log into a fresh schema beside the live one and then swaps the two, with the live tables
 * answering all the while. Killed at any point it leaves live tables, the former or the fresh ones; the next
 * rebuild clears away what else it left. Parked streams are tried again.
 * @throws ScratchInUse when another rebuild is running
 */
export async function rebuild(db: Pool, log: LogReader, options: RebuildOptions): Promise<void> {
  const scratch = { schema: nextSchema, lock: rebuildLock, kept: true }
  await withScratchSchema(db, scratch, async (client, makeIndexes) => {
    await options.onStarted?.()
    await client.query(`drop schema if exists ${formerSchema} cascade`)
    await replay(client, log, options)
    await client.query(`set maintenance_work_mem = '256MB'`)
    await makeIndexes()
    await client.query('analyze; set synchronous_commit = on')
    // What was written while that took its time.
    await catchUpWithLiveTables(client, log, options)
    await swap(client)
    await client.query('select pg_advisory_unlock($1)', [projectionLock])
    await waitForReadersOfFormer(client)
    await client.query(`drop schema ${formerSchema} cascade`)
  })
}

/**
 * Replays until the fresh tables are no less far than the live ones, and returns with the lock that keeps the live ones
 * there. The log is read without the lock, as the live tables' own rounds do: when they have moved meanwhile, the little that
 * is missing is replayed and the lock is taken again.
 */
async function catchUpWithLiveTables(
  client: ClientBase,
  log: LogReader,
  options: RebuildOptions,
): Promise<void> {
  for (let missed: bigint | undefined; ; ) {
    await replay(client, log, options)
    const reached = await readCheckpoint(client)
    await client.query('select pg_advisory_lock($1)', [projectionLock])
    const { rows } = await client.query<{ position: bigint }>(`select position from ${liveSchema}.checkpoint`)
    const live = rows[0]?.position ?? beforeAll
    // A position that the log still does not hold is none of this log's.
    if (live <= reached || live === missed) return
    missed = live
    await client.query('select pg_advisory_unlock($1)', [projectionLock])
  }
}

/** How far a rebuild that is running somewhere has come; undefined when none is. */
export async function rebuildPosition(db: Pool): Promise<bigint | undefined> {
  const { rows } = await db.query<{ running: boolean }>(
    `select to_regclass('${nextSchema}.checkpoint') is not null and exists (
       select from pg_locks
       where locktype = 'advisory' and objid = $1 and granted and mode = 'ExclusiveLock'
         and database = (select oid from pg_database where datname = current_database())
     ) as running`,
    [rebuildLock],
  )
  if (!rows[0]?.running) return undefined
  // The two may be swapped at this moment, and then it is over.
  const made = await db
    .query<{ position: bigint }>(`select position from ${nextSchema}.checkpoint`)
    .catch(() => undefined)
  return made?.rows[0]?.position
}

/** Renames lock no table, so nobody who is reading is waited for or kept waiting. */
async function swap(client: ClientBase): Promise<void> {
  await client.query(
    `begin;
     alter schema ${liveSchema} rename to ${formerSchema};
     alter schema ${nextSchema} rename to ${liveSchema};
     commit`,
  )
}

/** Dropping tables that somebody reads, one after the other, could deadlock with a reader of several. */
async function waitForReadersOfFormer(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ now: string }>('select now()')
  for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += 50) {
    const before = await client.query(
      `select from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and xact_start <= $1`,
      [rows[0]?.now],
    )
    if (before.rows.length === 0) return
    await setTimeout(50)
  }
}

/** Longer than any statement of a request may take. */
const longestWaitMs = 20_000
