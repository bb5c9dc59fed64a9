import type { ClientBase, Pool } from 'pg'
import { restoreLock } from './advisory-locks.ts'

/** A restore of this database was begun and has not ended. */
export class RestoreUnfinished extends Error {
  constructor() {
    super(
      'a restore of this database has not finished, so its data is incomplete; ' +
        'run keyledger restore with the same file again, which resumes where it stopped',
    )
    this.name = 'RestoreUnfinished'
  }
}

/** Stands in the database from before a restore changes anything until after its end. */
const marker = 'public.keyledger_restore'

/**
 * Refuses a database that is being restored. To be called once the durable schemas are there: a restore begins only in a
 * database without them, so it begins before this check and is seen, or not at all.
 * @throws RestoreUnfinished
 */
export async function refuseWhileRestoring(db: Pool): Promise<void> {
  const client = await db.connect()
  try {
    await client.query(`begin; select pg_advisory_xact_lock_shared(${restoreLock})`)
    const found = await isBeingRestored(client)
    await client.query('commit')
    if (found) throw new RestoreUnfinished()
  } finally {
    client.release()
  }
}

/** Whether a restore was begun and has not ended. */
export async function isBeingRestored(client: ClientBase | Pool): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    marker,
  ])
  return rows[0]?.found ?? false
}

/** How far a restore has come with the database; the log and the read models follow. */
export type RestorePhase = 'begun' | 'loaded'

/**
 * Claims an empty database for a backup, or takes up what an earlier run has left.
 * @returns undefined when the database is not empty, or is being restored from another backup
 */
export async function claimForRestore(
  client: ClientBase,
  backupId: string,
): Promise<RestorePhase | undefined> {
  await client.query(`begin; select pg_advisory_xact_lock(${restoreLock})`)
  try {
    const { rows } = await client.query<{ restoring: boolean; used: boolean }>(
      `select to_regclass($1) is not null as restoring, to_regnamespace('vault') is not null as used`,
      [marker],
    )
    if (rows[0]?.restoring) return await phaseOf(client, backupId)
    if (rows[0]?.used) return undefined
    await client.query(
      `create table ${marker} (backup_id uuid not null, loaded boolean not null default false, began_at timestamptz not null default now())`,
    )
    await client.query(`insert into ${marker} (backup_id) values ($1)`, [backupId])
    return 'begun'
  } finally {
    await client.query('commit')
  }
}

async function phaseOf(client: ClientBase, backupId: string): Promise<RestorePhase | undefined> {
  const { rows } = await client.query<{ backup_id: string; loaded: boolean }>(
    `select backup_id, loaded from ${marker}`,
  )
  const [found] = rows
  if (found?.backup_id !== backupId) return undefined
  return found.loaded ? 'loaded' : 'begun'
}

/** Takes away what a run that was killed before it had loaded the tables has left of them. */
export async function clearDurableSchemas(client: ClientBase): Promise<void> {
  await client.query(
    `begin;
     drop schema if exists vault, usage, limits, operations cascade;
     drop table if exists public.keyledger_migrations;
     commit`,
  )
}

/** Within the transaction that loads the tables. */
export async function markLoaded(client: ClientBase): Promise<void> {
  await client.query(`update ${marker} set loaded = true`)
}

/** The restore has ended: from now on the database may be served. */
export async function endRestore(client: ClientBase): Promise<void> {
  await client.query(`drop table ${marker}`)
}
