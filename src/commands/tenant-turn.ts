import type { Pool } from 'pg'
import { createTurns } from '../ledger/turns.ts'

/** So that one process waits with one connection, however many commands wait. */
const turns = createTurns()

/**
 * Lets commands that look at several streams of a tenant and then change one take turns, over all processes: no
 * revision of one stream proves what stands in the others.
 */
export function takeTenantTurn<T>(
  db: Pool,
  tenantId: string,
  what: 'members',
  work: () => Promise<T>,
): Promise<T> {
  return turns.take(`${what} ${tenantId}`, async () => {
    const lock = await db.connect()
    try {
      await lock.query('select pg_advisory_lock(hashtextextended($1, 0))', [`${what} ${tenantId}`])
      return await work()
    } finally {
      // Ending the connection lets go of the lock whatever state it is in.
      const freed = await lock
        .query('select pg_advisory_unlock(hashtextextended($1, 0))', [`${what} ${tenantId}`])
        .then(
          () => undefined,
          (error: Error) => error,
        )
      lock.release(freed)
    }
  })
}
