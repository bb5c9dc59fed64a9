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
  alone<T>(name: string, work: (prove: () => Promise<void>) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

type Options = {
  /** How long a lock is kept that nobody shares. */
  idleMs?: number
  /** With more locks than these, one that nobody shares is not kept. */
  mostIdle?: number
  /** How long to wait for a lock that somebody else holds. */
  patienceMs?: number
}

type Holding = {
  session: LockSession | undefined
  members: number
  /** Somebody wants it alone, or its connection is lost: nobody joins any more. */
  closing: boolean
  taken: Promise<void>
  idle: NodeJS.Timeout
}

const retryMs = 10
const askAgainMs = 100

export function createSharedLocks(db: Pool, options: Options = {}): SharedLocks {
  const { idleMs = 60_000, mostIdle = 200, patienceMs = 10_000 } = options
  const holdings = new Map<string, Holding>()
  let opened: Promise<LockSession> | undefined

  /** Whoever shares it may finish; nobody joins. */
  function close(name: string): void {
    const holding = holdings.get(name)
    if (!holding) return
    holding.closing = true
    if (holding.members === 0) letGo(name, holding)
  }

  /** Its locks went with it. Work that shares one of them hears it from the proof. */
  function forget(lost: LockSession): void {
    opened = undefined
    for (const [name, holding] of holdings) if (holding.session === lost) letGo(name, holding)
  }

  /** On one connection statements run in their order, so whoever takes the lock next takes it anew. */
  function letGo(name: string, holding: Holding): void {
    holding.closing = true
    clearTimeout(holding.idle)
    if (holdings.get(name) !== holding) return
    holdings.delete(name)
    if (holding.session?.lost === false) holding.session.unshare(name)
  }

  function hold(name: string, prepare: () => Promise<void>): Holding {
    const onIdle = () => (holding.members > 0 ? holding.idle.refresh() : letGo(name, holding))
    const idle = setTimeout(onIdle, idleMs).unref()
    const holding: Holding = {
      session: undefined,
      members: 0,
      closing: false,
      taken: Promise.resolve(),
      idle,
    }
    holdings.set(name, holding)
    holding.taken = take(name, holding, prepare).catch((error: unknown) => {
      holding.closing = true
      throw error
    })
    return holding
  }

  async function take(name: string, holding: Holding, prepare: () => Promise<void>): Promise<void> {
    const until = performance.now() + patienceMs
    opened ??= openLockSession(db, { onWanted: close, onLost: forget })
    const session = await opened
    while (!(await session.tryShare(name))) await patiently(name, until)
    holding.session = session
    await prepare()
  }

  return {
    async share(name, prepare) {
      const until = performance.now() + patienceMs
      while (holdings.get(name)?.closing) await patiently(name, until)
      const holding = holdings.get(name) ?? hold(name, prepare)
      holding.members++
      const leave = () => {
        if (--holding.members > 0) return
        if (holding.closing || holdings.size > mostIdle) letGo(name, holding)
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
    alone: (name, work) => withOwnConnection(db, (client) => alone(db, client, name, work, patienceMs)),
    async stop() {
      const session = await opened?.catch(() => undefined)
      session?.end()
    },
  }
}

async function alone<T>(
  db: Pool,
  client: ClientBase,
  name: string,
  work: (prove: () => Promise<void>) => Promise<T>,
  patienceMs: number,
): Promise<T> {
  await client.query(`set lock_timeout = ${patienceMs}`)
  let settled = false
  const locked = client.query(`select pg_advisory_lock(${lockNumber})`, [name]).finally(() => {
    settled = true
  })
  locked.catch(() => undefined)
  // Asked again, since a process may have taken it before this one stood in line and after it has asked.
  while (!settled) {
    await db.query('select pg_notify($1, $2)', [wantedChannel, name])
    await Promise.race([locked, sleep(askAgainMs)])
  }
  await locked
  return work(async () => void (await client.query('select')))
}

async function patiently(name: string, until: number): Promise<void> {
  if (performance.now() > until) throw new LockLost(`another session holds the lock ${name}`)
  await sleep(retryMs)
}
