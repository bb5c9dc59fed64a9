import { setTimeout } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from '../database/connection.ts'

export type WhenDue = {
  /** A key of projections/database/advisory-locks.ts. */
  lock: number
  isDue: (db: Pool | ClientBase) => Promise<boolean>
  /** Does the work, on a connection that holds the lock. */
  run: (client: ClientBase) => Promise<void>
  onFailure: (error: unknown) => void
  /** How often to check whether it is due. */
  pollMs?: number | undefined
  /** How soon to check again after a database error. */
  retryMs?: number | undefined
}

/**
 * Runs work whenever it is due, until the signal aborts. Several processes may do so: a lock in the database lets one of
 * them run it, and the others see that it was done.
 */
export async function runWhenDue(db: Pool, signal: AbortSignal, work: WhenDue): Promise<void> {
  const { pollMs = 60_000, retryMs = 5000, onFailure } = work
  while (!signal.aborted) {
    const waitMs = await runIfDue(db, work).then(
      () => pollMs,
      (error: unknown) => {
        onFailure(error)
        return retryMs
      },
    )
    await setTimeout(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

async function runIfDue(db: Pool, { lock, isDue, run }: WhenDue): Promise<void> {
  if (!(await isDue(db))) return
  await withOwnConnection(db, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      lock,
    ])
    // Another process is running it, or has just run it.
    if (rows[0]?.locked && (await isDue(client))) await run(client)
  })
}
