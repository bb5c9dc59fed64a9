import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from './connection.ts'
import { LockLost } from './errors.ts'
import { type LockSession, lockNumber, openLockSession, wantedChannel } from './lock-session.ts'

/** A caller's share of a lock. */
export type Share = {
  /**
   * Returns when Postgres has confirmed, after this call, that the lock was held all the time.
   * @throws LockLost, or the connection's error, when that is unknown
   */
  prove(): Promise<void>
  leave(): void
}

/**
 * Shared and exclusive locks in Postgres, for all processes. A process takes a shared lock once for all of its callers
 * and keeps it for later ones until a session wants it exclusively, so a share usually costs only the statement of
 * `prove`.
 */
export type SharedLocks = {
  /**
   * Takes a share of a lock.
   * @param prepare runs once after this process has taken the lock, before any share is returned. When it throws, the
   *   lock is released and all waiting callers get the error.
   * @throws LockLost when the lock is not available within the time limit
   */
  share(name: string, prepare: () => Promise<void>): Promise<Share>
  /**
   * Runs work while holding the lock exclusively. Waits until all shares are left; new shares wait for the work to end.
   * @throws pg.DatabaseError with code 55P03 when the lock is not available within the time limit
   */
  exclusive<T>(name: string, work: (prove: () => Promise<void>) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

type Options = {
  /** How long an unused lock is kept. */
  idleMs?: number
  /** With more held locks than this, an unused one is released at once. */
  maxIdle?: number
  /** How long to wait for a lock that another session holds. */
  timeLimitMs?: number
}

type HeldLock = {
  session: LockSession | undefined
  sharers: number
  /** True when a session wants it exclusively or its connection is lost: no new shares. */
  closing: boolean
  taken: Promise<void>
  idle: NodeJS.Timeout
}

const retryMs = 10
const notifyEveryMs = 100

export function createSharedLocks(db: Pool, options: Options = {}): SharedLocks {
  const { idleMs = 60_000, maxIdle = 200, timeLimitMs = 10_000 } = options
  const heldLocks = new Map<string, HeldLock>()
  let opened: Promise<LockSession> | undefined

  /** Admits no new shares, and releases the lock when the last share is left. */
  function close(name: string): void {
    const held = heldLocks.get(name)
    if (!held) return
    held.closing = true
    if (held.sharers === 0) release(name, held)
  }

  /** Forgets the locks of a lost connection. Callers that share one get LockLost from `prove`. */
  function dropLost(lost: LockSession): void {
    opened = undefined
    for (const [name, held] of heldLocks) if (held.session === lost) release(name, held)
  }

  /** A later share takes the lock again: the connection runs the unlock first. */
  function release(name: string, held: HeldLock): void {
    held.closing = true
    clearTimeout(held.idle)
    if (heldLocks.get(name) !== held) return
    heldLocks.delete(name)
    if (held.session?.lost === false) held.session.unshare(name)
  }

  function acquire(name: string, prepare: () => Promise<void>): HeldLock {
    const onIdle = () => (held.sharers > 0 ? held.idle.refresh() : release(name, held))
    const idle = setTimeout(onIdle, idleMs).unref()
    const held: HeldLock = {
      session: undefined,
      sharers: 0,
      closing: false,
      taken: Promise.resolve(),
      idle,
    }
    heldLocks.set(name, held)
    held.taken = lock(name, held, prepare).catch((error: unknown) => {
      held.closing = true
      throw error
    })
    return held
  }

  async function lock(name: string, held: HeldLock, prepare: () => Promise<void>): Promise<void> {
    const until = performance.now() + timeLimitMs
    opened ??= openLockSession(db, { onWanted: close, onLost: dropLost })
    const session = await opened
    while (!(await session.tryShare(name))) await waitToRetry(name, until)
    held.session = session
    await prepare()
  }

  return {
    async share(name, prepare) {
      const until = performance.now() + timeLimitMs
      while (heldLocks.get(name)?.closing) await waitToRetry(name, until)
      const held = heldLocks.get(name) ?? acquire(name, prepare)
      held.sharers++
      const leave = () => {
        if (--held.sharers > 0) return
        if (held.closing || heldLocks.size > maxIdle) release(name, held)
        else held.idle.refresh()
      }
      try {
        await held.taken
      } catch (error) {
        leave()
        throw error
      }
      const { session } = held
      if (!session) throw new Error('a lock that was taken has a session')
      return { prove: () => session.prove(), leave }
    },
    exclusive: (name, work) =>
      withOwnConnection(db, (client) => runExclusive(db, client, name, work, timeLimitMs)),
    async stop() {
      const session = await opened?.catch(() => undefined)
      session?.end()
    },
  }
}

async function runExclusive<T>(
  db: Pool,
  client: ClientBase,
  name: string,
  work: (prove: () => Promise<void>) => Promise<T>,
  timeLimitMs: number,
): Promise<T> {
  await client.query(`set lock_timeout = ${timeLimitMs}`)
  let settled = false
  const locked = client.query(`select pg_advisory_lock(${lockNumber})`, [name]).finally(() => {
    settled = true
  })
  locked.catch(() => undefined)
  // Notified repeatedly: a process may take the lock after a notification and before this session is in the queue.
  while (!settled) {
    await db.query('select pg_notify($1, $2)', [wantedChannel, name])
    await Promise.race([locked, sleep(notifyEveryMs)])
  }
  await locked
  return work(async () => void (await client.query('select')))
}

async function waitToRetry(name: string, until: number): Promise<void> {
  if (performance.now() > until) throw new LockLost(`another session holds the lock ${name}`)
  await sleep(retryMs)
}
