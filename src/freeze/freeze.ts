import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { SharedLocks } from '../../projections/database/shared-locks.ts'
import { appendLock } from './append-gate.ts'

export type Freeze = {
  beganAt: string
  /** Since when no process can append; null while that is being brought about, or when whoever did so was killed. */
  holdsSince: string | null
  actor: string
  reason: string | null
}

/** Longer than the store may take to answer or refuse what it was sent. */
const maxAppendMs = 12_000

/** How the ledger is frozen, or undefined when it is not. */
export async function readFreeze(db: Pool): Promise<Freeze | undefined> {
  const { rows } = await db.query<Freeze>(
    `select began_at as "beganAt", holds_since as "holdsSince", actor, reason from operations.freeze`,
  )
  return rows[0]
}

/**
 * Freezes the ledger. When it returns, no process of this installation appends, and none will before `unfreeze`, whether
 * it runs already or starts later. Repeating it is harmless, and finishes what a killed one has begun.
 *
 * What makes it hold: a process appends only while it shares a lock, which it takes only when it sees no freeze. Here the
 * freeze is written first, then the lock is taken alone: whoever had it shared has ended its appends, and whoever wants
 * it sees the freeze. A process that has lost its connection, and the lock with it, left a row behind; what it may have
 * sent is waited for.
 *
 * @param onWait told of that wait, in milliseconds
 * @returns the freeze, or undefined when it was ended again meanwhile
 * @throws what the database fails with when a process does not let go of the lock; the ledger is then as it was
 */
export async function freezeLedger(
  db: Pool,
  locks: SharedLocks,
  { actor, reason }: { actor: string; reason: string | null },
  onWait: (milliseconds: number) => void,
  lostAppendMs = maxAppendMs,
): Promise<Freeze | undefined> {
  const { rowCount: begun } = await db.query(
    `insert into operations.freeze (actor, reason) values ($1, $2) on conflict do nothing`,
    [actor, reason],
  )
  try {
    await locks.exclusive(appendLock, async (prove) => {
      if (await hasLostAppenders(db)) {
        onWait(lostAppendMs)
        await sleep(lostAppendMs)
        await forgetLostAppenders(db)
      }
      await prove()
      await db.query('update operations.freeze set holds_since = clock_timestamp() where holds_since is null')
    })
  } catch (error) {
    if (begun === 1) await unfreezeLedger(db)
    throw error
  }
  return readFreeze(db)
}

/** Ends a freeze. @returns whether there was one */
export async function unfreezeLedger(db: Pool): Promise<boolean> {
  const { rowCount } = await db.query('delete from operations.freeze')
  return rowCount !== 0
}

const isLost = `not exists (
  select from pg_stat_activity a where a.pid = appenders.pid and a.backend_start = appenders.started_at)`

async function hasLostAppenders(db: Pool): Promise<boolean> {
  const { rowCount } = await db.query(`select from operations.appenders where ${isLost} limit 1`)
  return rowCount !== 0
}

async function forgetLostAppenders(db: Pool): Promise<void> {
  await db.query(`delete from operations.appenders where ${isLost}`)
}
