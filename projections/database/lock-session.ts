import { setImmediate as nextLoop } from 'node:timers/promises'
import type pg from 'pg'
import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import { Connection } from './connection.ts'
import { LockLost } from './errors.ts'

/** A connection that holds shared locks. When it ends, Postgres releases them. */
export type LockSession = {
  readonly lost: boolean
  /** @returns whether the lock was taken; false while another session holds or awaits it exclusively */
  tryShare(name: string): Promise<boolean>
  unshare(name: string): void
  /** Returns once it is certain that the locks were held at the time of this call. @throws LockLost */
  prove(): Promise<void>
  end(): void
}

/** SQL expression: the key of the lock named by the first parameter. */
export const lockNumber = 'hashtextextended($1, 0)'

/** A session that awaits a lock exclusively notifies this channel with its name; sessions with shared locks listen. */
export const wantedChannel = 'keyledger_locks_wanted'

type Listeners = {
  /** Called when a session awaits this lock exclusively. */
  onWanted: (name: string) => void
  /** Called once, also after `end`. */
  onLost: (session: LockSession) => void
}

/**
 * Lets the event loop read everything that has arrived on sockets: a whole iteration lies between two immediates. When
 * Postgres ends a connection, it sends a message before it releases the locks. Over a Unix socket that message has
 * arrived before another session can take a lock, so no round trip is needed to detect the loss.
 */
async function drainSocket(): Promise<void> {
  await nextLoop()
  await nextLoop()
}

/**
 * @param db the pool with the connection settings; the session's connection is not part of the pool
 * @param first a statement to run on the connection before any lock is taken
 */
export async function openLockSession(
  db: Pool,
  { onWanted, onLost }: Listeners,
  first?: pg.QueryConfig,
): Promise<LockSession> {
  const client = new Connection({ ...db.options })
  const isLocal = client.host.startsWith('/')
  let lost = false
  const lose = () => {
    if (lost) return
    lost = true
    onLost(session)
    void client.end().catch(() => undefined)
  }
  /** A failed statement ends the session, since it is then unknown which locks are held. */
  const query = async <Row extends pg.QueryResultRow>(config: pg.QueryConfig) => {
    try {
      return await client.query<Row>(config)
    } catch (error) {
      lose()
      throw error
    }
  }
  const ping = coalesce<null, null>(async (pings) => {
    await query({ name: 'prove-locks', text: 'select' })
    return pings
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
