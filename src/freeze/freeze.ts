import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { SharedLocks } from '../../projections/database/shared-locks.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type AppendGate, appendLock } from './append-gate.ts'

export type Freeze = {
  beganAt: string
  /** Since when no process can append; null while the freeze is being set up, or if that was interrupted. */
  holdsSince: string | null
  actor: string
  reason: string | null
}

/** Longer than the store may take to answer or reject an append. */
const maxAppendMs = 12_000

/** Reads the current freeze; undefined when the ledger is not frozen. */
export async function readFreeze(db: Pool): Promise<Freeze | undefined> {
  const { rows } = await db.query<Freeze>(
    `select began_at as "beganAt", holds_since as "holdsSince", actor, reason from operations.freeze`,
  )
  return rows[0]
}

/**
 * Freezes the ledger. When it returns, no process of this installation appends, and none will before
 * `unfreeze`, whether it runs already or starts later. It can be repeated, which also completes an interrupted
 * freeze.
 *
 * How it works: a process appends only while it holds a shared lock, which it takes only when it sees no
 * freeze. A freeze is first written, then the lock is taken exclusively. At that point all holders of the
 * shared lock have ended their appends, and later ones see the freeze. A process that lost its connection, and
 * with it the lock, leaves a row behind; the freeze waits until its appends must have ended.
 *
 * @param onWait called with the length of that wait, in milliseconds
 * @returns the freeze, or undefined when it was ended in the meantime
 * @throws a database error when a process does not release the lock; the ledger is then as before
 */
export async function freezeLedger(
  db: Pool,
  locks: SharedLocks,
  { actor, reason }: { actor: string; reason: string | null },
  onWait: (milliseconds: number) => void,
  lostAppendMs = maxAppendMs,
): Promise<Freeze | undefined> {
  const { rowCount: inserted } = await db.query(
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
    if (inserted === 1) await unfreezeLedger(db)
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

/** Wraps a ledger so that its appends pass the gate. `append` may also throw LedgerFrozen. */
export function freezable(ledger: Ledger, gate: AppendGate): Ledger {
  return {
    ...ledger,
    async append(stream, expected, events, cause) {
      const leave = await gate.enter()
      try {
        return await ledger.append(stream, expected, events, cause)
      } finally {
        leave()
      }
    },
  }
}
