/**
 * Guarantee: the counts of a preview are exact up to their bound and close to the truth beyond it, and their plans read
 * a bounded number of rows, however large the tables are.
 */
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import { countPendingOf } from '../../projections/deliveries/counts.ts'
import {
  countLicenses,
  countLicensesOfKeyType,
  hasLiveLicense,
  mostCounted,
  sampleLiveLicenses,
} from '../../projections/licenses/count.ts'
import { countPersonRecords } from '../../projections/subjects.ts'
import { createLedgerDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool

const now = '2026-03-01T12:00:00.000Z'
const over = `case when $4 = 'over' then timestamptz '2026-01-01' end`
/** Ten licenses share a person; every fourth license of `old` is over. */
const fill = `
  insert into licenses (license_id, tenant_id, product_id, key_type_id, revision, key_hash, display_key, quantity, seats_used, last_fence,
      expires_at, ends_at, ended_at, on_expiry, freed_by_customer_at, device_subjects, relays, revoked_at, refunded_payments, sale_through, subject_id, source, test,
      metadata, created_at)
    select 'lic_' || $1 || $3 || n, $1, 'editor', $3, 1, md5(n::text), 'ACME…' || n, 1, 0, 0,
      ${over}, ${over}, ${over}, 'expire',
      '[]', '[]', '[]', case when $4 = 'revoked' then timestamptz '2026-01-01' end, '[]', 0, 'sub_' || n / 10, 'api', false, json_build_object('note', repeat('n', 300)),
      timestamptz '2025-01-01' + n * interval '1 second'
    from generate_series(1, $2::int) n`

beforeAll(async () => {
  database = await createLedgerDatabase()
  db = createPool(database.url, { size: 1 })
  await db.query(fill, ['big', 45_000, 'pro', 'live'])
  await db.query(fill, ['big', 14_000, 'old', 'revoked'])
  await db.query(fill, ['big', 1000, 'rare', 'over'])
  await db.query(fill, ['small', 7, 'pro', 'live'])
  await db.query('analyze licenses')
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const keyType = (keyTypeId: string, tenantId = 'big') => ({ tenantId, productId: 'editor', keyTypeId })

test('up to the bound a count is exact', async () => {
  expect(await countLicenses(db, 'small', {}, now)).toStrictEqual({ count: 7, counted: 'exactly' })
  expect(await countLicenses(db, 'big', { productId: 'editor', status: 'expired' }, now)).toStrictEqual({
    count: 1000,
    counted: 'exactly',
  })
  expect(await countLicensesOfKeyType(db, keyType('rare'), now)).toStrictEqual({
    live: { count: 0, counted: 'exactly' },
    ended: { count: 1000, counted: 'exactly' },
  })
  expect(await hasLiveLicense(db, keyType('rare'), now)).toBe(false)
  expect(await hasLiveLicense(db, keyType('pro'), now)).toBe(true)
})

test('beyond the bound it is an estimate that says so, and stays the same while nothing changes', async () => {
  const counts = [
    [await countLicenses(db, 'big', {}, now), 60_000],
    [await countLicenses(db, 'big', { status: 'active' }, now), 45_000],
    [(await countLicensesOfKeyType(db, keyType('pro'), now)).live, 45_000],
    [(await countLicensesOfKeyType(db, keyType('old'), now)).ended, 14_000],
  ] as const
  for (const [{ count, counted }, truth] of counts) {
    expect(counted).toBe('sampled')
    expect(count).toBeGreaterThan(truth * 0.8)
    expect(count).toBeLessThan(truth * 1.2)
  }
  expect(await countLicenses(db, 'big', {}, now)).toStrictEqual(counts[0][0])
})

test('a sample of live licenses is bounded, and all of them when they are few', async () => {
  const few = await sampleLiveLicenses(db, keyType('pro', 'small'), now)
  expect({ live: few.live, entries: few.entries.length }).toStrictEqual({
    live: { count: 7, counted: 'exactly' },
    entries: 7,
  })
  const many = await sampleLiveLicenses(db, keyType('pro'), now)
  expect(many.live.counted).toBe('sampled')
  expect(many.entries.length).toBeGreaterThan(100)
  expect(many.entries.length).toBeLessThanOrEqual(mostCounted)
})

const person = ['sub_1']
const reads: Record<string, () => Promise<unknown>> = {
  'all licenses': () => countLicenses(db, 'big', {}, now),
  'licenses by status': () => countLicenses(db, 'big', { status: 'revoked' }, now),
  'licenses of a product by status': () =>
    countLicenses(db, 'big', { productId: 'editor', status: 'expired' }, now),
  'a key type in use': () => countLicensesOfKeyType(db, keyType('pro'), now),
  'a key type that has ended': () => countLicensesOfKeyType(db, keyType('old'), now),
  'whether a key type is in use': () => hasLiveLicense(db, keyType('old'), now),
  'the live licenses of a key type': () => sampleLiveLicenses(db, keyType('pro'), now),
  'licenses of a small tenant': () => countLicenses(db, 'small', {}, now),
  'records of a person': () => countPersonRecords(db, 'big', person),
  'pending deliveries': () => countPendingOf(db, 'big', 'first', 10_000),
}

test.each(Object.entries(reads))(
  '%s: no statement reads more rows than the bound and a sample',
  async (_, read) => {
    const query = vi.spyOn(db, 'query')
    await read()
    const statements = query.mock.calls.map((call) => statementOf(call))
    query.mockRestore()
    expect(statements.length).toBeGreaterThan(0)
    for (const { text, values } of statements) {
      const { rows } = await db.query<{ 'QUERY PLAN': unknown }>(
        `explain (analyze, timing off, format json) ${text}`,
        [...values],
      )
      const [{ Plan: plan } = { Plan: undefined }] = Explained.parse(rows[0]?.['QUERY PLAN'])
      // A sample reads a thousand pages of the table, of at most 25 such rows.
      expect({ text, read: plan && mostRead(plan) }).toSatisfy(isBounded)
    }
  },
)

const isBounded = ({ read }: { read: number | undefined }): boolean => read !== undefined && read <= 25_000

const Given = z.union([
  z.tuple([z.object({ text: z.string(), values: z.array(z.unknown()).default([]) })]),
  z
    .tuple([z.string(), z.array(z.unknown()).default([])])
    .transform(([text, values]) => [{ text, values }] as const),
  z.tuple([z.string()]).transform(([text]) => [{ text, values: [] }] as const),
])
const statementOf = (call: unknown[]) => Given.parse(call.filter((part) => part !== undefined))[0]

type Node = {
  'Node Type': string
  'Actual Rows': number
  'Rows Removed by Filter'?: number | undefined
  Plans?: Node[] | undefined
}
const Node: z.ZodType<Node> = z.lazy(() =>
  z.looseObject({
    'Node Type': z.string(),
    'Actual Rows': z.number(),
    'Rows Removed by Filter': z.number().optional(),
    Plans: z.array(Node).optional(),
  }),
)
const Explained = z.array(z.looseObject({ Plan: Node }))

/** The most rows that one scan of the plan reads. */
function mostRead(node: Node): number {
  const own = node['Node Type'].includes('Scan')
    ? node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)
    : 0
  return Math.max(own, ...(node.Plans ?? []).map(mostRead))
}
