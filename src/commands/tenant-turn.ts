import type { Pool } from 'pg'
import { createTurns } from '../ledger/turns.ts'

/** So that one process waits with one connection, however many commands wait. */
const turns = createTurns()

/** @param prove returns when Postgres has confirmed, after the call, that the turn is not over yet */
type Work<T> = (prove: () => Promise<void>) => Promise<T>

/**
 * Lets commands that look at several streams of a tenant and then change one take turns, over all processes: no
 * revision of one stream proves what stands in the others.
 * @param db of which the turn takes a connection until the work is over
 */
export function takeTenantTurn<T>(
  db: Pool,
  tenantId: string,
  what: 'members' | 'approvals' | 'approval mails' | 'products' | 'activeDevices',
  work: Work<T>,
): Promise<T> {
  const name = `${what} ${tenantId}`
  return turns.take(name, async () => {
    const lock = await db.connect()
    let broken: Error | undefined
    // A connection that ends while the work goes on says so to its listeners alone.
    const lost = (error: Error) => {
      broken = error
    }
    lock.on('error', lost)
    try {
      await lock.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
      return await work(async () => void (await lock.query('select')))
    } finally {
      // Ending the connection lets go of the lock whatever state it is in.
      await lock.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]).catch(lost)
      lock.off('error', lost)
      lock.release(broken)
    }
  })
}
