import { setTimeout } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { projectionLock, rebuildLock } from '../database/advisory-locks.ts'
import { liveSchema } from '../database/pool.ts'
import type { OnParked } from './apply.ts'
import type { LogReader } from './log.ts'
import { readCheckpoint } from './read-models.ts'
import { type Progress, replay, withScratchSchema } from './replay.ts'
import { startOfLog } from './schema.ts'

const nextSchema = `${liveSchema}_next`
const formerSchema = `${liveSchema}_former`
export type RebuildOptions = {
  onParked: OnParked
  onProgress: (progress: Progress) => void
  /** Called once no other rebuild can run and before anything is changed; throwing aborts the rebuild. */
  onStarted?: () => Promise<void>
}

/**
 * Applies the whole log to a new schema beside the live one and then swaps the two. The live tables serve queries all
 * the time. When it is killed, either the old or the new tables are live, and the next rebuild drops the rest. Parked
 * streams are tried again.
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
    // Events that were recorded meanwhile.
    await catchUpWithLiveTables(client, log, options)
    await swap(client)
    await client.query('select pg_advisory_unlock($1)', [projectionLock])
    await waitForReadersOfFormer(client)
    await client.query(`drop schema ${formerSchema} cascade`)
  })
}

/**
 * Replays until the new tables have reached the live ones, and returns holding the projection lock, so that the live
 * ones cannot advance. The log is read without the lock: when the live tables have advanced meanwhile, it replays the
 * rest and takes the lock again.
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
    const live = rows[0]?.position ?? startOfLog
    // Unreachable even after another replay: the live tables' position is not one of this log.
    if (live <= reached || live === missed) return
    missed = live
    await client.query('select pg_advisory_unlock($1)', [projectionLock])
  }
}

/** The checkpoint of the running rebuild, of any process; undefined when none is running. */
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
  // When the schemas are swapped in between, the query fails: the rebuild has ended.
  const made = await db
    .query<{ position: bigint }>(`select position from ${nextSchema}.checkpoint`)
    .catch(() => undefined)
  return made?.rows[0]?.position
}

/** Renaming schemas locks no table, so it neither waits for readers nor blocks them. */
async function swap(client: ClientBase): Promise<void> {
  await client.query(
    `begin;
     alter schema ${liveSchema} rename to ${formerSchema};
     alter schema ${nextSchema} rename to ${liveSchema};
     commit`,
  )
}

/** Waits for transactions that may read the former tables: dropping these could deadlock with a reader of several. */
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

/** Longer than the statement timeout of requests. */
const longestWaitMs = 20_000

/** The newest rebuild that was started from the dashboard. Without an end it is running or was interrupted. */
export type LastRebuild = {
  startedAt: string
  endedAt: string | null
  events: number | null
  problem: string | null
}

export async function noteRebuildStarted(db: Pool, id: string, at: string): Promise<void> {
  await db.query('insert into usage.rebuilds (id, started_at) values ($1, $2)', [id, at])
}

export async function noteRebuildEnded(
  db: Pool,
  id: string,
  ended: { at: string; events: number; problem: string | null },
): Promise<void> {
  await db.query('update usage.rebuilds set ended_at = $2, events = $3, problem = $4 where id = $1', [
    id,
    ended.at,
    ended.events,
    ended.problem,
  ])
}

export async function findLastRebuild(db: Pool): Promise<LastRebuild | undefined> {
  const { rows } = await db.query<Omit<LastRebuild, 'events'> & { events: bigint | null }>(
    `select started_at as "startedAt", ended_at as "endedAt", events, problem
     from usage.rebuilds order by started_at desc limit 1`,
  )
  const [last] = rows
  return last && { ...last, events: last.events === null ? null : Number(last.events) }
}
