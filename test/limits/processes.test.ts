// Guarantee: a process that was stopped, or whose machine slept, relies on its share of the limits only after the other
// processes have counted it again. Until then every call is decided by the shared state.

import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { Meter } from '../../src/limits/meter.ts'
import { type HeartbeatClocks, joinProcesses } from '../../src/limits/processes.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: pg.Pool
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const fail = (error: unknown) => expect.fail(String(error))

test.each([
  ['was stopped', { monotonic: 12_000, wall: 12_000 }],
  ['slept with its machine', { monotonic: 0, wall: 12_000 }],
  ['was stopped while its clock was set back', { monotonic: 12_000, wall: -60_000 }],
])('a process that %s joins again', async (_, pause) => {
  const ahead = { monotonic: 0, wall: 0 }
  const clocks: HeartbeatClocks = {
    monotonic: () => performance.now() + ahead.monotonic,
    wall: () => Date.now() + ahead.wall,
  }
  let counted = 0
  const other = await joinProcesses(db, Date.now, () => undefined, fail)
  const paused = await joinProcesses(db, Date.now, (count) => (counted = count), fail, clocks)
  expect(counted).toBe(2)
  expect(paused.isCounted()).toBe(true)

  Object.assign(ahead, pause)
  expect(paused.isCounted()).toBe(false)
  expect(other.isCounted()).toBe(true)

  await expect.poll(() => paused.isCounted()).toBe(true)
  expect(counted).toBe(2)
  await paused.leave()
  await other.leave()
})

test('without its share, a process admits nothing by itself', () => {
  const meter = new Meter({ perMinute: 60, burst: 1000 })
  expect(meter.admit('key', 0, true)).toBe(0)
  expect(meter.admit('key', 0, false)).toBeLessThan(0)
  meter.setProcesses(2)
  expect(meter.admit('key', 0, true)).toBe(0)
  expect(meter.admit('key', 0, false)).toBeLessThan(0)
})
