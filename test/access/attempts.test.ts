/** Allowances are exact across processes: a burst, then one per interval, and no more under concurrency. */
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool } from '../../projections/database/pool.ts'
import { type Attempts, createAttempts } from '../../src/access/attempts.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool
let now = Date.parse('2026-03-01T12:00:00.000Z')
let attempts: Attempts
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
let buckets = 0
let bucket = ''
beforeEach(() => {
  bucket = `bucket ${++buckets}`
  attempts = createAttempts(db, () => new Date(now))
})

const allowance = { burst: 3, intervalMs: 10_000 }
const take = () => attempts.take([{ bucket, allowance }])
const allowed = { allowed: true }

test('a burst is allowed, then one per interval, and a refusal says how long to wait', async () => {
  for (let n = 0; n < 3; n++) expect(await take()).toStrictEqual(allowed)
  expect(await take()).toStrictEqual({ allowed: false, retryAfterSeconds: 10 })
  now += 4000
  expect(await take()).toStrictEqual({ allowed: false, retryAfterSeconds: 6 })
  now += 6000
  expect(await take()).toStrictEqual(allowed)
  expect(await take()).toStrictEqual({ allowed: false, retryAfterSeconds: 10 })
  now += 3 * 10_000
  for (let n = 0; n < 3; n++) expect(await take()).toStrictEqual(allowed)
  expect((await take()).allowed).toBe(false)
})

test('a refused attempt uses nothing', async () => {
  for (let n = 0; n < 3; n++) await take()
  for (let n = 0; n < 20; n++) expect((await take()).allowed).toBe(false)
  now += 10_000
  expect(await take()).toStrictEqual(allowed)
})

test('concurrent attempts, as from several processes, never exceed the allowance', async () => {
  const others = createAttempts(db, () => new Date(now))
  const taken = await Promise.all(
    Array.from({ length: 40 }, (_, n) => (n % 2 ? attempts : others).take([{ bucket, allowance }])),
  )
  expect(taken.filter((attempt) => attempt.allowed)).toHaveLength(3)
})

test('an attempt needs a unit in each of several buckets', async () => {
  const both = () =>
    attempts.take([
      { bucket, allowance },
      { bucket: `${bucket} narrow`, allowance: { burst: 1, intervalMs: 60_000 } },
    ])
  expect(await both()).toStrictEqual(allowed)
  expect(await both()).toStrictEqual({ allowed: false, retryAfterSeconds: 60 })
})

test('a returned attempt can be taken again, once', async () => {
  for (let n = 0; n < 3; n++) await take()
  await attempts.giveBack(bucket, allowance)
  expect(await take()).toStrictEqual(allowed)
  expect((await take()).allowed).toBe(false)
})

test('a forgiven bucket is full again', async () => {
  for (let n = 0; n < 3; n++) await take()
  await attempts.forgive(bucket)
  for (let n = 0; n < 3; n++) expect(await take()).toStrictEqual(allowed)
})

test('a clock that is set back by an hour does not block attempts for an hour', async () => {
  for (let n = 0; n < 3; n++) expect(await take()).toStrictEqual(allowed)
  now -= 3_600_000
  for (let n = 0; n < 3; n++) expect(await take()).toStrictEqual(allowed)
  expect(await take()).toStrictEqual({ allowed: false, retryAfterSeconds: 10 })
})

test('clocks that differ by seconds do not increase the allowance', async () => {
  for (let n = 0; n < 3; n++) expect(await take()).toStrictEqual(allowed)
  now -= 8000
  expect(await take()).toStrictEqual({ allowed: false, retryAfterSeconds: 18 })
})
