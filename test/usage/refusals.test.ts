/**
 * Refused calls are written in batches. A flood of unknown keys or devices takes a limited number of rows, in memory
 * and in the table, and every call is still counted; no key can be read from what is kept.
 */
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool, liveSchema } from '../../projections/database/pool.ts'
import { inTransaction } from '../../projections/database/transaction.ts'
import { createReadModelSchema } from '../../projections/runner/schema.ts'
import { maskedKey, newLicenseKey } from '../../src/credentials/license-key.ts'
import {
  createRefusals,
  maxDetails,
  type Refusals,
  type RefusedCall,
  type RefusedDevice,
} from '../../src/usage/refusals.ts'
import { maxKeysOfDay, maxOfLicense } from '../../src/usage/refusals-sql.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool
const failures: unknown[] = []
let now = new Date('2026-03-01T12:00:00.000Z')
let refusals: Refusals
const make = () =>
  createRefusals(
    db,
    () => now,
    (error) => failures.push(error),
    3_600_000,
  )
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url)
  await inTransaction(db, (client) => createReadModelSchema(client, liveSchema))
  for (const productId of ['editor', 'player']) {
    const { rows } = await db.query<{ column_name: string; data_type: string }>(
      `select column_name, data_type from information_schema.columns
       where table_name = 'products' and table_schema = $1 and is_nullable = 'NO' and column_default is null`,
      [liveSchema],
    )
    const values = rows.map(({ column_name: name, data_type: type }) => sample(name, type, productId))
    await db.query(
      `insert into products (${rows.map((row) => row.column_name).join(', ')})
       values (${values.map((_, index) => `$${index + 1}`).join(', ')})`,
      values,
    )
  }
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
beforeEach(async () => {
  await db.query('truncate usage.refusals, usage.refused_calls, usage.unknown_keys, usage.forgotten_refusals')
  failures.length = 0
  now = new Date('2026-03-01T12:00:00.000Z')
  refusals = make()
})
afterEach(() => refusals.stop())

/** A value for a column of the products that this test does not use. */
function sample(name: string, type: string, productId: string): unknown {
  if (name === 'tenant_id') return 'acme'
  if (name === 'product_id' || name === 'stream') return productId
  if (type.startsWith('timestamp')) return now
  if (type === 'boolean') return false
  if (type.startsWith('json')) return '{}'
  return type === 'text' ? 'x' : 1
}

const call: RefusedCall = { tenantId: 'acme', productId: 'editor', call: 'activate', interface: 'client' }
const device = (id: string, more: Partial<RefusedDevice> = {}): RefusedDevice => ({
  id,
  name: null,
  appVersion: null,
  sdkVersion: null,
  platform: null,
  ...more,
})
const rowsOf = async <T extends object>(text: string) => (await db.query<T>(text)).rows
const kept = () =>
  rowsOf(`select license_id, device_id, reason, device_name, app_version, refused::int, first_seen_at, last_seen_at
          from usage.refusals order by 1, 2, 3`)
const counted = async () =>
  (
    await rowsOf<{ product_id: string; day: string; reason: string; refused: number }>(
      'select product_id, day, reason, refused::int from usage.refused_calls order by 1, 2, 3',
    )
  ).map(({ product_id, day, reason, refused }) => `${product_id} ${day.slice(0, 10)} ${reason} ${refused}`)

test('of one device and reason the newest call is kept, with the number and times of all', async () => {
  const first = now.toISOString()
  refusals.record(call, 'lic_1', 'seat_limit_reached', device('a', { name: 'MacBook', appVersion: '1.0' }))
  refusals.record(call, 'lic_1', 'seat_limit_reached', device('a', { appVersion: '1.1' }))
  await refusals.flush()
  now = new Date('2026-03-02T12:00:00.000Z')
  refusals.record(call, 'lic_1', 'seat_limit_reached', device('a'))
  refusals.record({ ...call, call: 'validate' }, 'lic_1', 'revoked', device('a'))
  await refusals.flush()
  const last = now.toISOString()
  const row = { license_id: 'lic_1', device_id: 'a' }
  expect(await kept()).toStrictEqual([
    {
      ...row,
      reason: 'revoked',
      device_name: null,
      app_version: null,
      refused: 1,
      first_seen_at: last,
      last_seen_at: last,
    },
    {
      ...row,
      reason: 'seat_limit_reached',
      device_name: 'MacBook',
      app_version: '1.1',
      refused: 3,
      first_seen_at: first,
      last_seen_at: last,
    },
  ])
  expect(await counted()).toStrictEqual([
    'editor 2026-03-01 seat_limit_reached 2',
    'editor 2026-03-02 revoked 1',
    'editor 2026-03-02 seat_limit_reached 1',
  ])
  expect(failures).toStrictEqual([])
})

test('of a product that does not exist nothing is written', async () => {
  refusals.recordUnknownKey({ ...call, productId: 'invented' }, 'anything')
  await refusals.flush()
  expect(await counted()).toStrictEqual([])
  expect(failures).toStrictEqual([])
})

test('a flood of unknown keys is counted, and of a day no more than the limit is listed', async () => {
  const flood = (from: number, to: number) => {
    for (let index = from; index < to; index++)
      refusals.recordUnknownKey(call, `UNKNOWN KEY ${index.toString(36).padStart(4, '0')}`)
  }
  flood(0, 3 * maxDetails)
  await refusals.flush()
  flood(0, maxDetails)
  await refusals.flush()
  const keys = await rowsOf<{ display_key: string; refused: number }>(
    'select display_key, refused::int from usage.unknown_keys order by display_key',
  )
  expect(keys).toHaveLength(maxKeysOfDay + 1)
  expect(keys.at(0)?.display_key).toBe('')
  expect(keys.reduce((sum, { refused }) => sum + refused, 0)).toBe(4 * maxDetails)
  expect(await counted()).toStrictEqual([`editor 2026-03-01 not_found ${4 * maxDetails}`])
  // The listed keys are counted again, and no key is added.
  const [, listed] = keys
  expect(listed?.refused).toBe(2)
})

test('a flood of devices is counted, and of a license no more than the limit is kept', async () => {
  for (let index = 0; index < 2 * maxDetails; index++)
    refusals.record(call, 'lic_1', 'seat_limit_reached', device(`d${index}`))
  now = new Date(now.getTime() + 1000)
  refusals.record(call, 'lic_2', 'expired', device('x'))
  await refusals.flush()
  expect(await kept()).toHaveLength(maxDetails)
  await refusals.trim()
  expect(await kept()).toHaveLength(maxOfLicense)
  expect(await counted()).toStrictEqual([
    'editor 2026-03-01 expired 1',
    `editor 2026-03-01 seat_limit_reached ${2 * maxDetails}`,
  ])
})

test('what is older than 90 days is deleted', async () => {
  refusals.record(call, 'lic_1', 'expired', device('a'))
  refusals.recordUnknownKey(call, 'SOME FOREIGN KEY')
  await refusals.flush()
  now = new Date(now.getTime() + 91 * 86_400_000)
  await refusals.trim()
  expect(await kept()).toStrictEqual([])
  expect(await rowsOf('select from usage.unknown_keys')).toStrictEqual([])
  expect(await counted()).toHaveLength(2)
})

test('a forgotten license gets no row from what another process has in memory', async () => {
  const other = make()
  refusals.record(call, 'lic_1', 'expired', device('a', { name: 'MacBook of Ada' }))
  other.record(call, 'lic_1', 'expired', device('a', { name: 'MacBook of Ada' }))
  now = new Date(now.getTime() + 1000)
  await refusals.forget(['lic_1'])
  await other.stop()
  expect(await kept()).toStrictEqual([])
  now = new Date(now.getTime() + 1000)
  refusals.record(call, 'lic_1', 'expired', device('a'))
  await refusals.flush()
  expect(await kept()).toHaveLength(1)
})

test('of a key only its prefix and four characters can be read', () => {
  const { licenseKey, displayKey } = newLicenseKey('ACME', () => Buffer.alloc(32, 7))
  expect(maskedKey(licenseKey)).toBe(displayKey)
  expect(maskedKey(licenseKey.toLowerCase().replaceAll('-', ' '))).toBe(displayKey)
  const mistyped = `${licenseKey.slice(0, -1)}${licenseKey.endsWith('A') ? 'B' : 'A'}`
  expect(maskedKey(mistyped)).toBe(displayKey)
  expect(maskedKey('ada@example.com')).toBe('…COM')
  expect(maskedKey('abc')).toBe('…')
})

test('denied takings are counted by the minute, and deleted after 400 days', async () => {
  const insert = (minute: string) =>
    db.query('insert into usage.denied_takings (license_id, minute, denied) values ($1, $2, 1)', [
      'lic_1',
      minute,
    ])
  await insert('2025-01-25T12:00:00.000Z')
  await insert('2025-01-25T11:59:00.000Z')
  await refusals.trim()
  expect(await rowsOf('select minute from usage.denied_takings')).toStrictEqual([
    { minute: '2025-01-25T12:00:00.000Z' },
  ])
  await db.query('truncate usage.denied_takings')
})

test('a license whose seats do not float has no denied takings', async () => {
  refusals.record(call, 'lic_1', 'seat_limit_reached', device('a'))
  await refusals.flush()
  expect(await counted()).toStrictEqual(['editor 2026-03-01 seat_limit_reached 1'])
  expect(await rowsOf('select from usage.denied_takings')).toStrictEqual([])
  expect(failures).toStrictEqual([])
})
