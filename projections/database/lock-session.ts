import { setImmediate as nextTurn } from 'node:timers/promises'
import pg, { type Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import { LockLost } from './trouble.ts'

/** A connection that holds shared locks. They are held exactly as long as it lasts. */
export type LockSession = {
  readonly lost: boolean
  /** @returns whether it was free to share; who waits for it alone comes first */
  tryShare(name: string): Promise<boolean>
  unshare(name: string): void
  /** Returns when it is known that the locks were held at the time of this call. @throws LockLost */
  prove(): Promise<void>
  end(): void
}

/** In SQL, the number of the lock that the first parameter names. */
export const lockNumber = 'hashtextextended($1, 0)'

/** Where somebody who waits for a lock alone says so. Whoever shares the lock listens on the connection that holds it. */
export const wantedChannel = 'keyledger_locks_wanted'

type Listeners = {
  /** Somebody waits for this lock alone. */
  onWanted: (name: string) => void
  /** Called once, also when the session was ended. */
  onLost: (session: LockSession) => void
}

/**
 * Lets the event loop read everything that the system holds for this process by now: a whole turn of it lies between two
 * immediates. Before Postgres lets go of the locks of a connection that it ends, it says so on the connection. Over a Unix
 * socket that has arrived before anybody else can take the lock, so that nothing has to be asked.
 */
async function drainSocket(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/**
 * @param db whose connection settings are used; the connection is no part of the pool
 * @param first a statement to run on the connection before any lock is taken
 */
export async function openLockSession(
  db: Pool,
  { onWanted, onLost }: Listeners,
  first?: pg.QueryConfig,
): Promise<LockSession> {
  const client = new pg.Client({ ...db.options })
  const isLocal = client.host.startsWith('/')
  let lost = false
  const lose = () => {
    if (lost) return
    lost = true
    onLost(session)
    void client.end().catch(() => undefined)
  }
  /** After a statement that fails nobody knows what is held. */
  const query = async <Row extends pg.QueryResultRow>(query: pg.QueryConfig) => {
    try {
      return await client.query<Row>(query)
    } catch (error) {
      lose()
      throw error
    }
  }
  const ping = coalesce<null, null>(async (asked) => {
    await query({ name: 'prove-locks', text: 'select' })
    return asked
  })
  const trying = { name: 'share-lock', text: `select pg_try_advisory_lock_shared(${lockNumber}) as taken` }
  const leaving = { name: 'unshare-lock', text: `select pg_advisory_unlock_shared(${lockNumber})` }
  const session: LockSession = {
    get lost() {
      return lost
    },
    async tryShare(name) {
      const { rows } = await query<{ taken: boolean }>({ ...trying, values: [name] })
      return rows[0]?.taken === true
    },
    unshare: (name) => void query({ ...leaving, values: [name] }).catch(() => undefined),
    async prove() {
      if (isLocal) await drainSocket()
      else if (!lost) await ping(null)
      if (lost) throw new LockLost()
    },
    end: lose,
  }
  client.on('error', lose)
  client.on('end', lose)
  client.on('notification', ({ payload = '' }) => onWanted(payload))
  try {
    await client.connect()
    await client.query(`listen ${wantedChannel}`)
    if (first) await client.query(first)
    return session
  } catch (error) {
    lose()
    throw error
  }
}
