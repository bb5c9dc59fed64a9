/**
 * A call is decided in the process at once. Several servers on one database keep a limit together. A store that
 * fails or hangs delays calls only briefly.
 */
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createLimiter, type Limiter, type SharedBuckets } from '../../src/limits/limiter.ts'
import { joinLimits } from '../../src/limits/limits.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { createMemoryBuckets } from './memory-buckets.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const rate = { perMinute: 600, burst: 1200 }

describe('one process', () => {
  test('decides without waiting, and reports in batches', async () => {
    const memory = createMemoryBuckets()
    let told = 0
    const shared: SharedBuckets = {
      async settle(_limit, gcra, reports, now) {
        told++
        return memory.settle(gcra, reports, now)
      },
    }
    const limiter = createLimiter('test', rate, { shared, now: () => start, onFailure: fail })
    const answers = Array.from({ length: 1500 }, () => limiter.take('tok_1'))
    expect(answers.filter((answer) => answer === 0)).toHaveLength(1200)
    expect(answers.slice(1200)).toStrictEqual(Array.from({ length: 300 }, () => 100))
    expect(limiter.take('tok_2')).toBe(0)
    await limiter.stop()
    expect(told).toBeLessThan(5)
    expect(memory.stateOf('tok_1')).toBe(start + 120_000)
  })
})

describe('a store that fails', () => {
  const failing: SharedBuckets = { settle: () => Promise.reject(new Error('gone')) }
  const hanging: SharedBuckets = { settle: () => new Promise(() => undefined) }

  test.each([
    ['fails', failing],
    ['hangs', hanging],
  ])('that %s: whoever waits is answered within a moment, and the next do not wait', async (what, shared) => {
    const failures: unknown[] = []
    const limiter = createLimiter(
      'test',
      { perMinute: 10, burst: 3 },
      { shared, now: () => start, onFailure: (error) => failures.push(error) },
    )
    limiter.setProcesses(4)
    const answers = await Promise.all(Array.from({ length: 5 }, async () => limiter.take('tok_1')))
    expect(answers).toStrictEqual([0, 0, 0, 6000, 6000])
    expect(limiter.take('tok_2')).toBe(0)
    expect(limiter.take('tok_1')).toBe(6000)
    if (what === 'fails') {
      await limiter.stop()
      expect(failures).not.toStrictEqual([])
    }
  })

  test('is not called again for every call', async () => {
    let asked = 0
    const shared: SharedBuckets = {
      settle: () => {
        asked++
        return Promise.reject(new Error('gone'))
      },
    }
    const limiter = createLimiter('test', rate, { shared, now: () => start, onFailure: () => undefined })
    limiter.setProcesses(2)
    for (let calls = 0; calls < 500; calls++) {
      await limiter.take('tok_1')
      if (calls % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(asked).toBeLessThanOrEqual(3)
    await limiter.stop()
  })
})

describe('several servers on one database', () => {
  let database: TestDatabase
  let pools: Pool[]
  beforeAll(async () => {
    database = await createTestDatabase()
    await migrate(database.url)
    pools = Array.from({ length: 3 }, () => createPool(database.url))
  })
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await database.drop()
  })

  /** Takes units as fast as possible. @returns how many were admitted */
  async function flood(limiter: Limiter | undefined, calls: number): Promise<number> {
    let admitted = 0
    for (let call = 0; call < calls; call++) if ((await limiter?.take('tok_1')) === 0) admitted++
    return admitted
  }

  test('keep the limit together, wherever the calls arrive, and a later one starts from their state', async () => {
    // So slow that no unit becomes free during the test.
    const rates = { management: { perMinute: 1, burst: 1000 } }
    const joined = await Promise.all(pools.slice(0, 2).map((pool) => joinLimits(pool, rates, fail)))
    const floods = await Promise.all(joined.map(({ limits }) => flood(limits.management, 900)))
    const before = floods.reduce((sum, admitted) => sum + admitted, 0)
    expect(before).toBeGreaterThanOrEqual(990)
    expect(before).toBeLessThanOrEqual(1050)
    const [, , third] = pools
    if (!third) throw new Error('no third pool')
    const late = await joinLimits(third, rates, fail)
    expect(before + (await flood(late.limits.management, 500))).toBeLessThanOrEqual(1050)
    for (const { leave } of [...joined, late]) await leave()
    const { rows } = await third.query('select from limits.processes')
    expect(rows).toStrictEqual([])
  })

  // A busy machine may delay the heartbeat of the first beyond the second's time limit.
  test('a new process is counted by the others before it starts', { retry: 3 }, async () => {
    const rates = { management: { perMinute: 1, burst: 100 } }
    const [one, two] = pools
    if (!one || !two) throw new Error('no pools')
    const first = await joinLimits(one, rates, fail)
    const second = await joinLimits(two, rates, fail)
    // Alone it would decide at once; now it has to report after its allowance.
    const answers = Array.from({ length: 50 }, () => first.limits.management?.take('tok_9'))
    for (const answer of answers) await answer
    await first.leave()
    await second.leave()
    expect(answers.some((answer) => typeof answer === 'object')).toBe(true)
  })

  test('a process that is alone starts from the state of the previous one', async () => {
    const [one, two] = pools
    if (!one || !two) throw new Error('no pools')
    const rates = { clientActivate: { perMinute: 1, burst: 10 } }
    const before = await joinLimits(one, rates, fail)
    for (let calls = 0; calls < 10; calls++)
      expect(await before.limits.clientActivate?.take('192.0.2.1')).toBe(0)
    await before.leave()
    const after = await joinLimits(two, rates, fail)
    expect(await after.limits.clientActivate?.take('192.0.2.1')).toBeGreaterThan(0)
    expect(await after.limits.clientActivate?.take('192.0.2.2')).toBe(0)
    await after.leave()
  })

  test('a clock that is set back by an hour does not block calls for an hour', async () => {
    const [one, two] = pools
    if (!one || !two) throw new Error('no pools')
    const rates = { clientActivate: { perMinute: 60, burst: 3 } }
    const before = await joinLimits(one, rates, fail)
    for (let calls = 0; calls < 3; calls++) await before.limits.clientActivate?.take('192.0.2.7')
    vi.setSystemTime(Date.now() - 3_600_000)
    const waitMs = await before.limits.clientActivate?.take('192.0.2.7')
    expect(waitMs).toBeLessThanOrEqual(1000)
    vi.useRealTimers()
    await before.leave()
    // The state of a process that ran before the clock was set back.
    await one.query('update limits.buckets set tat = tat + 3600000')
    const after = await joinLimits(two, rates, fail)
    expect(await after.limits.clientActivate?.take('192.0.2.7')).toBe(0)
    await after.leave()
  })

  test('without any limit nothing is shared', async () => {
    const [one] = pools
    if (!one) throw new Error('no pool')
    const { limits, leave } = await joinLimits(one, {}, fail)
    expect(limits).toStrictEqual({})
    expect((await one.query('select from limits.processes')).rows).toStrictEqual([])
    await leave()
  })
})

function fail(error: unknown): void {
  throw error
}
