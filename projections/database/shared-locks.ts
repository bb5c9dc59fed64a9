import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from '../runner/own-connection.ts'
import { type LockSession, lockNumber, openLockSession, wantedChannel } from './lock-session.ts'
import { LockLost } from './trouble.ts'

/** Part of a lock that many hold at once. */
export type Share = {
  /**
   * Returns when Postgres has confirmed, after this call, that the lock was held all the time.
   * @throws LockLost, or what the connection failed with, when that is not known
   */
  prove(): Promise<void>
  leave(): void
}

/**
 * Locks in Postgres that many share and one can have alone, over all processes. A process takes a lock once for all of
 * its work that shares it, and keeps it in case there is more until somebody wants it alone, so sharing costs no
 * statement but the proof.
 */
export type SharedLocks = {
  /**
   * @param prepare runs once when this process has taken the lock, before anybody goes on. When it throws, the lock is
   *   let go of, and all who waited for it get the error
   */
  share(name: string, prepare: () => Promise<void>): Promise<Share>
  /** Waits until nobody else holds the lock. New shares wait until the work is over. */
  exclusive<T>(name: string, work: (prove: () => Promise<void>) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

type Options = {
  /** How long a lock is kept that nobody shares. */
  idleMs?: number
  /** With more locks than these, one that nobody shares is not kept. */
  mostIdle?: number
  /** How long to wait for a lock that somebody else holds. */
  timeLimitMs?: number
}

type HeldLock = {
  session: LockSession | undefined
  sharers: number
  /** Somebody wants it alone, or its connection is lost: nobody joins any more. */
  closing: boolean
  taken: Promise<void>
  idle: NodeJS.Timeout
}

const retryMs = 10
const notifyEveryMs = 100

export function createSharedLocks(db: Pool, options: Options = {}): SharedLocks {
  const { idleMs = 60_000, mostIdle = 200, timeLimitMs = 10_000 } = options
  const heldLocks = new Map<string, HeldLock>()
  let opened: Promise<LockSession> | undefined

  /** Whoever shares it may finish; nobody joins. */
  function close(name: string): void {
    const holding = heldLocks.get(name)
    if (!holding) return
    holding.closing = true
    if (holding.sharers === 0) release(name, holding)
  }

  /** Its locks went with it. Work that shares one of them hears it from the proof. */
  function dropLost(lost: LockSession): void {
    opened = undefined
    for (const [name, holding] of heldLocks) if (holding.session === lost) release(name, holding)
  }

  /** On one connection statements run in their order, so whoever takes the lock next takes it anew. */
  function release(name: string, holding: HeldLock): void {
    holding.closing = true
    clearTimeout(holding.idle)
    if (heldLocks.get(name) !== holding) return
    heldLocks.delete(name)
    if (holding.session?.lost === false) holding.session.unshare(name)
  }

  function acquire(name: string, prepare: () => Promise<void>): HeldLock {
    const onIdle = () => (holding.sharers > 0 ? holding.idle.refresh() : release(name, holding))
    const idle = setTimeout(onIdle, idleMs).unref()
    const holding: HeldLock = {
      session: undefined,
      sharers: 0,
      closing: false,
      taken: Promise.resolve(),
      idle,
    }
    heldLocks.set(name, holding)
    holding.taken = lock(name, holding, prepare).catch((error: unknown) => {
      holding.closing = true
      throw error
    })
    return holding
  }

  async function lock(name: string, holding: HeldLock, prepare: () => Promise<void>): Promise<void> {
    const until = performance.now() + timeLimitMs
    opened ??= openLockSession(db, { onWanted: close, onLost: dropLost })
    const session = await opened
    while (!(await session.tryShare(name))) await waitToRetry(name, until)
    holding.session = session
    await prepare()
  }

  return {
    async share(name, prepare) {
      const until = performance.now() + timeLimitMs
      while (heldLocks.get(name)?.closing) await waitToRetry(name, until)
      const holding = heldLocks.get(name) ?? acquire(name, prepare)
      holding.sharers++
      const leave = () => {
        if (--holding.sharers > 0) return
        if (holding.closing || heldLocks.size > mostIdle) release(name, holding)
        else holding.idle.refresh()
      }
      try {
        await holding.taken
      } catch (error) {
        leave()
        throw error
      }
      const { session } = holding
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
  // Asked again, since a process may have taken it before this one stood in line and after it has asked.
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
