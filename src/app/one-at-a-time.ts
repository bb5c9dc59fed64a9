import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'

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
  const connection = await db.connect()
  const lost = new AbortController()
  const onError = () => lost.abort()
  connection.on('error', onError)
  try {
    const { rows } = await connection.query<{ locked: boolean }>(
      'select pg_try_advisory_lock($1) as locked',
      [lock],
    )
    if (rows[0]?.locked) await work(AbortSignal.any([signal, lost.signal]))
  } finally {
    connection.off('error', onError)
    // Closing the connection releases the lock in any state.
    connection.release(true)
  }
}
