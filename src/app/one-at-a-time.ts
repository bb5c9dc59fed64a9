import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import { withConnection } from '../../projections/database/connection.ts'

const lockRetryMs = 1000

/**
 * Works while this process holds a lock; the lock ends with its connection. Other processes wait, and one of them takes over.
 * @param lock a key of projections/database/advisory-locks.ts
 * @param onFailure is called when the work has failed, before it is tried again
 */
export async function oneAtATime(
  db: Pool,
  lock: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void = () => undefined,
): Promise<void> {
  while (!signal.aborted) {
    await whileLocked(db, lock, signal, work).catch(onFailure)
    await setTimeout(lockRetryMs, undefined, { signal }).catch(() => undefined)
  }
}

async function whileLocked(
  db: Pool,
  lock: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await withConnection(
    db,
    async (connection) => {
      const lost = new AbortController()
      connection.once('error', () => lost.abort())
      const { rows } = await connection.query<{ locked: boolean }>(
        'select pg_try_advisory_lock($1) as locked',
        [lock],
      )
      if (rows[0]?.locked) await work(AbortSignal.any([signal, lost.signal]))
    },
    // Releases the lock in any state.
    { close: true },
  )
}
