/**
 * A lock that many share and one can have alone: whoever has it alone is alone, over all processes; whoever waits for it
 * alone comes next; and work that shared it hears when nobody can tell whether it was held to the end.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { wantedChannel } from '../../projections/database/lock-session.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createSharedLocks, type SharedLocks } from '../../projections/database/shared-locks.ts'
import { isDatabaseTrouble } from '../../projections/database/trouble.ts'
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

/** What one process has. */
function processWith(options: Parameters<typeof createSharedLocks>[1] = {}): SharedLocks {
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

test('whoever has it alone meets nobody, of any process, and everybody gets their turn', async () => {
  const processes = [processWith(), processWith(), processWith()]
  let sharing = 0
  let alone = 0
  const met: string[] = []
  const look = () => {
    if (alone > 1 || (alone === 1 && sharing > 0)) met.push(`${alone} alone, ${sharing} sharing`)
  }
  const share = async (locks: SharedLocks) => {
    for (let times = 0; times < 40; times++) {
      const { leave, prove } = await locks.share('a', nothing)
      sharing++
      look()
      await sleep(Math.random() * 4)
      await prove()
      look()
      sharing--
      leave()
    }
  }
  const beAlone = async (locks: SharedLocks) => {
    for (let times = 0; times < 5; times++) {
      await locks.exclusive('a', async (prove) => {
        alone++
        look()
        await sleep(Math.random() * 4)
        await prove()
        look()
        alone--
      })
    }
  }
  await Promise.all(processes.flatMap((locks) => [share(locks), share(locks), share(locks), beAlone(locks)]))
  expect(met).toStrictEqual([])
})

test('one process takes it once for all who share it, prepares once, and keeps it for the next', async () => {
  const locks = processWith()
  let prepared = 0
  const prepare = async () => void prepared++
  const shares = await Promise.all(Array.from({ length: 50 }, () => locks.share('a', prepare)))
  for (const { leave } of shares) leave()
  const again = await locks.share('a', prepare)
  again.leave()
  expect({ prepared, held: await held() }).toStrictEqual({ prepared: 1, held: 1 })
  await locks.exclusive('a', nothing)
  const next = await locks.share('a', prepare)
  next.leave()
  expect(prepared).toBe(2)
})

/** How many wait for a lock. */
const inLine = async (): Promise<number | null> => {
  const { rowCount } = await db.query(
    `select from pg_locks where locktype = 'advisory' and not granted
     and database = (select oid from pg_database where datname = current_database())`,
  )
  return rowCount
}

/** Resolves when Postgres has told that somebody wants a lock alone. */
async function wishForLock(): Promise<void> {
  const client = await db.connect()
  try {
    const told = once(client, 'notification')
    await client.query(`listen ${wantedChannel}`)
    await told
    await client.query('unlisten *')
  } finally {
    client.release()
  }
}

test('nobody joins behind one who waits for it alone', async () => {
  const [first, second] = [processWith(), processWith()]
  const order: string[] = []
  const { leave } = await first.share('a', nothing)
  const other = await first.share('b', nothing)
  other.leave()
  const told = wishForLock()
  const alone = second.exclusive('a', async () => void order.push('alone'))
  await Promise.all([told, expect.poll(inLine).toBe(1)])
  // Wishes arrive in their order: when the first process has let go of this one, it has heard of the other.
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

test('what could not be prepared is let go of, and tried anew', async () => {
  const locks = processWith()
  const failing = () => Promise.reject(new Error('not there'))
  const both = await Promise.allSettled([locks.share('a', failing), locks.share('a', failing)])
  expect(both.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected'])
  await expect.poll(held).toBe(0)
  const { leave } = await locks.share('a', nothing)
  leave()
})

test('work whose connection was lost hears it, and the next takes the lock on another', async () => {
  const [locks, other] = [processWith(), processWith()]
  const share = await locks.share('a', nothing)
  await share.prove()
  await db.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
     and database = (select oid from pg_database where datname = current_database())`,
  )
  await other.exclusive('a', nothing)
  const told = await share.prove().catch((error: unknown) => error)
  expect(isDatabaseTrouble(told)).toBe(true)
  share.leave()
  const again = await locks.share('a', nothing)
  await again.prove()
  again.leave()
})

test('one that nobody shares is let go of after a while', async () => {
  const locks = processWith({ idleMs: 50 })
  ;(await locks.share('a', nothing)).leave()
  await expect.poll(held).toBe(0)
})

test('one that nobody shares is let go of at once where there are many', async () => {
  const locks = processWith({ mostIdle: 3 })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) (await locks.share(name, nothing)).leave()
  await expect.poll(held).toBe(3)
})

test('nobody waits for ever', async () => {
  const [first, second] = [processWith(), processWith({ timeLimitMs: 50 })]
  const { leave } = await first.share('a', nothing)
  const told = await second.exclusive('a', nothing).catch((error: unknown) => error)
  expect(isDatabaseTrouble(told)).toBe(true)
  leave()
  await first.exclusive('a', async () => {
    const late = await second.share('a', nothing).catch((error: unknown) => error)
    expect(isDatabaseTrouble(late)).toBe(true)
  })
})
