import type { Pool } from 'pg'
import { createKeyedMutex } from '../../async/keyed-mutex.ts'

/** A process waits with one connection per lock, however many commands wait. */
const mutex = createKeyedMutex()

/** @param prove returns when Postgres has confirmed, after the call, that the lock is still held */
type Work<T> = (prove: () => Promise<void>) => Promise<T>

/**
 * Runs a command that reads several streams of a tenant and then changes one, under a lock over all
 * processes: the revision of one stream proves nothing about the others.
 * @param db a connection of it holds the lock until the work is done
 */
export function withTenantLock<T>(
  db: Pool,
  tenantId: string,
  what:
    | 'members'
    | 'approvals'
    | 'approval mails'
    | 'products'
    | 'activeDevices'
    | 'provider endpoints'
    | 'customer merges'
    | 'invitations',
  work: Work<T>,
): Promise<T> {
  const name = `${what} ${tenantId}`
  return mutex.run(name, async () => {
    const lock = await db.connect()
    let broken: Error | undefined
    try {
      await lock.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
      return await work(async () => void (await lock.query('select')))
    } finally {
      // Ending the connection releases the lock in any state.
      await lock.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]).catch((error: Error) => {
        broken = error
      })
      lock.release(broken)
    }
  })
}
