/**
 * Guarantee: an exclusive lock excludes all shares, in all processes; a session that waits for it exclusively precedes
 * new shares; and `prove` fails when it is unknown whether a shared lock was held to the end.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isDatabaseFailure } from '../../projections/database/errors.ts'
import { wantedChannel } from '../../projections/database/lock-session.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createSharedLocks, type SharedLocks } from '../../projections/database/shared-locks.ts'
import { createTestDatabase } from '../harness/database.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let db: Pool
let made: SharedLocks[] = []
beforeAll(async () => {
  database = await createTestDatabase()
  db = createPool(database.url, { size: 20 })
})
afterEach(async () => {
  await Promise.all(made.map((locks) => locks.stop()))
  made = []
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

/** The locks of one process. */
function locksOfProcess(options: Parameters<typeof createSharedLocks>[1] = {}): SharedLocks {
  const locks = createSharedLocks(db, options)
  made.push(locks)
  return locks
}

const nothing = async () => undefined

const held = async (): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int from pg_locks where locktype = 'advisory'
     and database = (select oid from pg_database where datname = current_database())`,
  )
  return rows[0]?.count ?? 0
}

test('exclusive work overlaps with no other work of any process, and all work completes', async () => {
  const processes = [locksOfProcess(), locksOfProcess(), locksOfProcess()]
  let sharing = 0
  let alone = 0
  const overlaps: string[] = []
  const check = () => {
    if (alone > 1 || (alone === 1 && sharing > 0)) overlaps.push(`${alone} alone, ${sharing} sharing`)
  }
  const share = async (locks: SharedLocks) => {
    for (let times = 0; times < 40; times++) {
      const { leave, prove } = await locks.share('a', nothing)
      sharing++
      check()
      await sleep(Math.random() * 4)
      await prove()
      check()
      sharing--
      leave()
    }
  }
  const exclude = async (locks: SharedLocks) => {
    for (let times = 0; times < 5; times++) {
      await locks.exclusive('a', async (prove) => {
        alone++
        check()
        await sleep(Math.random() * 4)
        await prove()
        check()
        alone--
      })
    }
  }
  await Promise.all(processes.flatMap((locks) => [share(locks), share(locks), share(locks), exclude(locks)]))
  expect(overlaps).toStrictEqual([])
})

test('a process takes a shared lock once, prepares once, and keeps it for later shares', async () => {
  const locks = locksOfProcess()
  let prepared = 0
  const prepare = async () => void prepared++
  const shares = await Promise.all(Array.from({ length: 50 }, () => locks.share('a', prepare)))
  for (const { leave } of shares) leave()
  const again = await locks.share('a', prepare)
  again.leave()
  expect(prepared).toBe(1)
  // A session of the test before may end a moment later.
  await expect.poll(held).toBe(1)
  await locks.exclusive('a', nothing)
  const next = await locks.share('a', prepare)
  next.leave()
  expect(prepared).toBe(2)
})

/** The number of sessions that wait for a lock. */
const waiting = async (): Promise<number | null> => {
  const { rowCount } = await db.query(
    `select from pg_locks where locktype = 'advisory' and not granted
     and database = (select oid from pg_database where datname = current_database())`,
  )
  return rowCount
}

/** Resolves when a session has notified that it wants a lock exclusively. */
async function lockWanted(): Promise<void> {
  const client = await db.connect()
  try {
    const notified = once(client, 'notification')
    await client.query(`listen ${wantedChannel}`)
    await notified
    await client.query('unlisten *')
  } finally {
    client.release()
  }
}

test('new shares wait behind a session that waits for the exclusive lock', async () => {
  const [first, second] = [locksOfProcess(), locksOfProcess()]
  const order: string[] = []
  const { leave } = await first.share('a', nothing)
  const other = await first.share('b', nothing)
  other.leave()
  const notified = lockWanted()
  const alone = second.exclusive('a', async () => void order.push('alone'))
  await Promise.all([notified, expect.poll(waiting).toBe(1)])
  // Notifications arrive in order: a process that has released this lock knows of the other one.
  await second.exclusive('b', nothing)
  const late = [first, second].map(async (locks) => {
    const share = await locks.share('a', nothing)
    order.push('late')
    share.leave()
  })
  await sleep(50)
  order.push('left')
  leave()
  await Promise.all([alone, ...late])
  expect(order).toStrictEqual(['left', 'alone', 'late', 'late'])
})

test('a lock is released when its preparation fails, and can be taken again', async () => {
  const locks = locksOfProcess()
  const failing = () => Promise.reject(new Error('not there'))
  const both = await Promise.allSettled([locks.share('a', failing), locks.share('a', failing)])
  expect(both.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected'])
  await expect.poll(held).toBe(0)
  const { leave } = await locks.share('a', nothing)
  leave()
})

test('`prove` fails after a lost connection, and the next share takes the lock on a new connection', async () => {
  const [locks, other] = [locksOfProcess(), locksOfProcess()]
  const share = await locks.share('a', nothing)
  await share.prove()
  await db.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
     and database = (select oid from pg_database where datname = current_database())`,
  )
  await other.exclusive('a', nothing)
  const failure = await share.prove().catch((error: unknown) => error)
  expect(isDatabaseFailure(failure)).toBe(true)
  share.leave()
  const again = await locks.share('a', nothing)
  await again.prove()
  again.leave()
})

test('an unused lock is released after a while', async () => {
  const locks = locksOfProcess({ idleMs: 50 })
  ;(await locks.share('a', nothing)).leave()
  await expect.poll(held).toBe(0)
})

test('an unused lock is released at once when there are many', async () => {
  const locks = locksOfProcess({ maxIdle: 3 })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) (await locks.share(name, nothing)).leave()
  await expect.poll(held).toBe(3)
})

test('waiting for a lock has a time limit', async () => {
  const [first, second] = [locksOfProcess(), locksOfProcess({ timeLimitMs: 50 })]
  const { leave } = await first.share('a', nothing)
  const failure = await second.exclusive('a', nothing).catch((error: unknown) => error)
  expect(isDatabaseFailure(failure)).toBe(true)
  leave()
  await first.exclusive('a', async () => {
    const late = await second.share('a', nothing).catch((error: unknown) => error)
    expect(isDatabaseFailure(late)).toBe(true)
  })
})
