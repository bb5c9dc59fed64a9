import type { ClientBase, Pool } from 'pg'
import { restoreLock } from './advisory-locks.ts'
import { inTransaction } from './transaction.ts'

/** A restore of this database has begun and not finished. */
export class RestoreUnfinished extends Error {
  constructor() {
    super(
      'a restore of this database has not finished, so its data is incomplete; ' +
        'run keyledger restore with the same file again, which resumes where it stopped',
    )
    this.name = 'RestoreUnfinished'
  }
}

/** A table that exists from before a restore changes anything until it has finished. */
const marker = 'public.keyledger_restore'

/**
 * Refuses a database that is being restored. Call it once the durable schemas exist: a restore begins only without
 * them, so no restore can begin after this check.
 * @throws RestoreUnfinished
 */
export async function refuseWhileRestoring(db: Pool): Promise<void> {
  const found = await inTransaction(db, async (client) => {
    await client.query('select pg_advisory_xact_lock_shared($1)', [restoreLock])
    return isBeingRestored(client)
  })
  if (found) throw new RestoreUnfinished()
}

/** Whether a restore has begun and not finished. */
export async function isBeingRestored(client: ClientBase | Pool): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    marker,
  ])
  return rows[0]?.found ?? false
}

/** The progress of a restore of the database, before the log and the read models. */
export type RestorePhase = 'begun' | 'loaded'

/**
 * Claims an empty database for a restore, or resumes an unfinished restore of the same backup.
 * @returns the phase to continue from; undefined when the database is not empty or another backup is being restored
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

/** Drops what a run left that was killed before it had loaded the tables. */
export async function clearDurableSchemas(client: ClientBase): Promise<void> {
  await client.query(
    `begin;
     drop schema if exists vault, usage, limits, operations, notary cascade;
     drop table if exists public.keyledger_migrations;
     commit`,
  )
}

/** Marks the tables as loaded. Must run in the transaction that loads them. */
export async function markLoaded(client: ClientBase): Promise<void> {
  await client.query(`update ${marker} set loaded = true`)
}

/** Ends the restore: servers may use the database from now on. */
export async function endRestore(client: ClientBase): Promise<void> {
  await client.query(`drop table ${marker}`)
}
