/**
 * Reports of installs are written in batches, also with concurrent writers. A failing database loses none of
 * them, and the memory that they use is limited.
 */
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool, liveSchema } from '../../projections/database/pool.ts'
import { inTransaction } from '../../projections/database/transaction.ts'
import { createReadModelSchema } from '../../projections/runner/schema.ts'
import { countUnlicensed } from '../../projections/trials.ts'
import { createInstalls, type InstallReport, type Installs } from '../../src/usage/installs.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool
const failures: unknown[] = []
let now = new Date('2026-03-01T12:00:00.000Z')
let installs: Installs
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
  await inTransaction(db, (client) => createReadModelSchema(client, liveSchema))
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
const make = () =>
  createInstalls(
    db,
    () => now,
    (error) => failures.push(error),
    3_600_000,
  )
beforeEach(async () => {
  await db.query('truncate usage.installs, usage.unlicensed')
  failures.length = 0
  now = new Date('2026-03-01T12:00:00.000Z')
  installs = make()
})
afterEach(async () => {
  await installs.stop()
  expect(await counted()).toStrictEqual(await countedAnew())
})

/** Counted separately and from the installs: both agree, whatever was written. */
type Count = { tenant_id: string; product_id: string; state: string; installs: bigint }
const counted = async () =>
  (await db.query<Count>('select * from usage.unlicensed where installs <> 0 order by 1, 2, 3')).rows
const countedAnew = async () =>
  (
    await db.query<Count>(
      `select tenant_id, product_id, state, count(*) as installs from usage.installs
       where converted_at is null or last_seen_at > converted_at group by 1, 2, 3 order by 1, 2, 3`,
    )
  ).rows

const nothing = { appVersion: null, sdkVersion: null, platform: null, sdk: null }
const seen = (instanceId: string, more: Partial<InstallReport> = {}): InstallReport => ({
  tenantId: 'acme',
  productId: 'editor',
  instanceId,
  state: 'free_tier',
  machine: null,
  telemetry: nothing,
  at: now,
  ...more,
})
const rows = async () =>
  (
    await db.query<{ instance_id: string; state: string; app_version: string | null; last_seen_at: string }>(
      'select instance_id, state, app_version, last_seen_at from usage.installs order by instance_id',
    )
  ).rows

test('the newest report of an install applies, and missing values stay', async () => {
  installs.record(seen('a', { telemetry: { ...nothing, appVersion: '1.0' } }), true)
  const later = new Date(now.getTime() + 1000)
  installs.record(seen('a', { state: 'expired', at: later }), false)
  expect(installs.isPending(seen('a'))).toBe(true)
  await installs.flush()
  expect(installs.isPending(seen('a'))).toBe(false)
  const row = { instance_id: 'a', state: 'expired', app_version: '1.0', last_seen_at: later.toISOString() }
  expect(await rows()).toStrictEqual([row])
  // Another process writes an older report later.
  const other = make()
  other.record(seen('a', { state: 'trial' }), true)
  await other.stop()
  expect(await rows()).toStrictEqual([row])
})

test('a report that may not create an install only updates an existing one', async () => {
  installs.record(seen('a'), false)
  await installs.flush()
  expect(await rows()).toStrictEqual([])
  installs.record(seen('a'), true)
  await installs.flush()
  installs.record(seen('a', { state: 'trial' }), false)
  await installs.flush()
  expect(await rows()).toMatchObject([{ instance_id: 'a', state: 'trial' }])
})

test('reports that failed to be written are written later', async () => {
  const failing = vi.spyOn(db, 'query').mockImplementation(() => {
    throw new Error('gone')
  })
  installs.record(seen('a'), true)
  installs.convert(seen('a'))
  await installs.flush()
  expect(failures).toStrictEqual([new Error('gone')])
  expect(installs.isPending(seen('a'))).toBe(true)
  installs.record(seen('b'), true)
  failing.mockRestore()
  await installs.flush()
  const { rows: found } = await db.query('select instance_id, converted_at from usage.installs order by 1')
  expect(found).toStrictEqual([
    { instance_id: 'a', converted_at: now.toISOString() },
    { instance_id: 'b', converted_at: null },
  ])
})

test('a converted install counts again when it reports, and counting reads no installs', async () => {
  const unlicensed = () => countUnlicensed(db, 'acme', 'editor')
  const none = { trial: 0, free_tier: 0, expired: 0, sharedMachines: 0 }
  expect(await unlicensed()).toStrictEqual(none)
  for (const id of ['a', 'b', 'c']) installs.record(seen(id, { state: 'trial' }), true)
  await installs.flush()
  installs.convert(seen('a'))
  installs.record(seen('b', { state: 'expired' }), false)
  await installs.flush()
  expect(await unlicensed()).toStrictEqual({ ...none, trial: 1, expired: 1 })
  now = new Date(now.getTime() + 1)
  installs.record(seen('a'), false)
  await installs.flush()
  expect(await unlicensed()).toStrictEqual({ ...none, trial: 1, free_tier: 1, expired: 1 })
  await db.query('alter table usage.installs rename to hidden')
  try {
    await unlicensed()
  } finally {
    await db.query('alter table usage.hidden rename to installs')
  }
})

test('the number of pending reports is limited, and earlier ones are kept', async () => {
  for (let install = 0; install < 20_050; install++) installs.record(seen(`i${install}`), true)
  installs.record(seen('i7', { state: 'trial' }), true)
  await installs.flush()
  expect(failures).toStrictEqual([new Error('more installs report than can be stored: 50 were skipped')])
  expect((await db.query('select count(*)::int as count from usage.installs')).rows).toStrictEqual([
    { count: 20_000 },
  ])
  expect((await rows()).find(({ instance_id }) => instance_id === 'i7')).toMatchObject({ state: 'trial' })
})

test('two processes can write the same installs at once', async () => {
  const two = make()
  for (let round = 0; round < 5; round++) {
    for (let install = 0; install < 1500; install++) {
      installs.record(seen(`i${install}`), true)
      two.record(seen(`i${1499 - install}`), true)
    }
    await Promise.all([installs.flush(), two.flush()])
  }
  await two.stop()
  expect(failures).toStrictEqual([])
  expect(await rows()).toHaveLength(1500)
})

test('installs on one machine are counted once each, up to the limit', async () => {
  for (let install = 1; install <= 25; install++) {
    const sighting = { ...seen(`i${install}`), machine: 'm1' }
    expect(await installs.settle(sighting)).toBe(Math.min(install, 21))
    if (install % 8 === 0) expect(await installs.settle(sighting)).toBe(Math.min(install, 21))
  }
  expect(await installs.settle({ ...seen('i1'), machine: 'm2' })).toBe(1)
})

test('an install that was not seen for 18 months is deleted', async () => {
  installs.record(seen('old'), true)
  installs.record(seen('in use'), true)
  await installs.flush()
  now = new Date('2027-09-01T12:00:00.000Z')
  installs.record(seen('in use'), true)
  await installs.flush()
  await installs.sweep()
  expect((await rows()).map(({ instance_id }) => instance_id)).toStrictEqual(['in use', 'old'])
  now = new Date('2027-09-01T12:00:01.000Z')
  await installs.sweep()
  expect((await rows()).map(({ instance_id }) => instance_id)).toStrictEqual(['in use'])
})
