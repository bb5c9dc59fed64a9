/**
 * The buckets in Postgres follow exactly the rule of the simulation, for any reports in any order, also from
 * several processes at once.
 */
import fc from 'fast-check'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { gcraOf, type Report } from '../../src/limits/meter.ts'
import { createSharedBuckets } from '../../src/limits/shared-buckets.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { createMemoryBuckets } from './memory-buckets.ts'

let database: TestDatabase
let db: Pool
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const start = Date.parse('2026-03-01T12:00:00.000Z')
const byKey = (left: { key: string }, right: { key: string }) => (left.key < right.key ? -1 : 1)

/** A report on one bucket; `knows`: the last state that the process received, or another one. */
const anyTelling = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  knows: fc.constantFrom('the state', 'nothing', 'another'),
  ahead: fc.integer({ min: 0, max: 3000 }),
  sinceAgo: fc.integer({ min: 0, max: 2000 }),
  admitted: fc.integer({ min: 0, max: 20 }),
  waiting: fc.integer({ min: 0, max: 20 }),
})

test('each settlement follows the rule', async () => {
  const shared = createSharedBuckets(db)
  let limit = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom({ perMinute: 600, burst: 20 }, { perMinute: 70, burst: 3 }),
      fc.array(
        fc.tuple(
          fc.integer({ min: 0, max: 5000 }),
          fc.uniqueArray(anyTelling, { selector: ({ key }) => key, minLength: 1 }),
        ),
        {
          minLength: 1,
          maxLength: 12,
        },
      ),
      async (rate, rounds) => {
        const gcra = gcraOf(rate)
        const memory = createMemoryBuckets()
        const name = `limit-${limit++}`
        let now = start
        for (const [gap, states] of rounds) {
          now += gap
          const reports = states.map(({ key, knows, ahead, sinceAgo, admitted, waiting }): Report => {
            const state = memory.stateOf(key) ?? null
            const expected = knows === 'the state' ? state : knows === 'nothing' ? null : now + 0.5
            const since = admitted > 0 ? now - sinceAgo : -1
            return { key, expected, mine: now + ahead, since, admitted, waiting }
          })
          const settled = await shared.settle(name, gcra, reports, now)
          expect(settled.sort(byKey)).toStrictEqual(memory.settle(gcra, reports, now).sort(byKey))
        }
      },
    ),
    { numRuns: 150 },
  )
})

test('concurrent reports are all counted, without deadlocks', async () => {
  const gcra = gcraOf({ perMinute: 600, burst: 100_000 })
  const tellers = Array.from({ length: 8 }, () => createSharedBuckets(db))
  const keys = ['k1', 'k2', 'k3', 'k4']
  const rounds = 25
  await Promise.all(
    tellers.map(async (shared, teller) => {
      for (let round = 0; round < rounds; round++) {
        // Each process has its own order.
        const order = keys.map((_, index) => keys[(index + teller + round) % keys.length] ?? '')
        const reports = order.map((key) => ({
          key,
          expected: null,
          mine: start + gcra.intervalMs,
          since: start,
          admitted: 1,
          waiting: 0,
        }))
        await shared.settle('at-once', gcra, reports, start)
      }
    }),
  )
  const { rows } = await db.query<{ tat: number }>(
    "select tat from limits.buckets where key like 'at-once:%'",
  )
  expect(rows).toStrictEqual(keys.map(() => ({ tat: start + tellers.length * rounds * gcra.intervalMs })))
})

test('waiting calls of several processes are granted only the units that are left', async () => {
  const gcra = gcraOf({ perMinute: 60, burst: 30 })
  const reports = [{ key: 'few', expected: null, mine: 0, since: -1, admitted: 0, waiting: 4 }]
  const settled = await Promise.all(
    Array.from({ length: 20 }, () => createSharedBuckets(db).settle('grants', gcra, reports, start)),
  )
  const granted = settled.flat().map((one) => one.granted)
  expect(granted.reduce((sum, one) => sum + one, 0)).toBe(30)
  const later = await createSharedBuckets(db).settle('grants', gcra, reports, start + 2000)
  expect(later).toStrictEqual([{ key: 'few', tat: start + 32_000, granted: 2 }])
})
