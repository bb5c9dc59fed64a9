/**
 * Guarantee: lookups use indexes. Each is planned once per connection, perhaps while the tables are empty: a sequential
 * scan would then be cheapest, and kept when the tables are large.
 */
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { migrate } from '../../projections/database/migrate.ts'
import { createPool, liveSchema } from '../../projections/database/pool.ts'
import { createLookups, type Lookups } from '../../projections/lookups.ts'
import { createReadModelSchema } from '../../projections/runner/schema.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool
beforeAll(async () => {
  database = await createTestDatabase()
  await migrate(database.url)
  db = createPool(database.url, { size: 1, planOnce: true })
  const client = await db.connect()
  await client.query('begin')
  await createReadModelSchema(client, liveSchema)
  await client.query('commit')
  client.release()
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const now = '2026-03-01T12:00:00.000Z'
const place = { tenantId: 'acme', productId: 'editor' }
const keyHash = 'f'.repeat(64)
const key = { ...place, keyHash, keyedHash: `hmac:${keyHash}` }
const instanceId = 'one'

/** Concurrent validates use another statement than a single one. */
type Call = keyof Lookups | 'findForValidateOfTwo'

const calls: { [Name in Call]: (lookups: Lookups) => Promise<unknown> } = {
  findToken: (lookups) => lookups.findToken(keyHash),
  findProduct: (lookups) => lookups.findProduct(place.tenantId, place.productId),
  findForValidate: (lookups) => lookups.findForValidate({ ...key, tokenHash: keyHash, deviceId: 'one' }),
  findForValidateOfTwo: ({ findForValidate }) => {
    const params = { ...key, tokenHash: keyHash, deviceId: 'one' }
    return Promise.all([findForValidate(params), findForValidate({ ...params, deviceId: 'two' })])
  },
  findForRuntime: (lookups) => lookups.findForRuntime({ ...key, deviceId: 'one' }),
  findClient: (lookups) => lookups.findClient({ ...place, now }),
  findInstall: (lookups) => lookups.findInstall({ ...place, instanceId, machine: 'one' }),
  findLicenseById: (lookups) => lookups.findLicenseById('lic_one'),
  findInstance: (lookups) => lookups.findInstance({ ...key, instance: { instanceId } }),
  findForInstanceValidate: (lookups) => lookups.findForInstanceValidate({ ...key, instanceId, now }),
  findMetered: (lookups) => lookups.findMetered({ ...key, deviceId: 'one', instanceId }),
  findMeter: (lookups) =>
    lookups.findMeter({ stream: 'meter-lic_one.calls', known: -1, keys: [{ key: 'one', licenseId: null }] }),
}

const Statement = z.object({ text: z.string() })

async function planOf(call: (lookups: Lookups) => Promise<unknown>): Promise<string> {
  const query = vi.spyOn(db, 'query')
  await call(createLookups(db))
  const { text } = Statement.parse(query.mock.calls[0]?.[0])
  query.mockRestore()
  const { rows } = await db.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

test.each(Object.entries(calls))('%s uses only indexes, planned over empty tables', async (_, call) => {
  const plan = await planOf(call)
  expect(plan).toContain('Index')
  expect(plan).not.toMatch(/Seq Scan|Hash Join|Merge Join|Materialize/)
})

test.each([
  'findForValidate',
  'findForValidateOfTwo',
  'findForRuntime',
  'findInstance',
  'findForInstanceValidate',
  'findMetered',
] as const)('%s finds a customer by its id, not by the tenant', async (name) => {
  const scans = (await planOf(calls[name])).match(/using customers\w+/g)
  expect([...new Set(scans)]).toStrictEqual(['using customers_pkey'])
})

test.each(['findInstance', 'findForInstanceValidate'] as const)(
  '%s finds an instance by its id, not by the license',
  async (name) => {
    expect(await planOf(calls[name])).toMatch(/using devices_by_instance .*\n\s+Index Cond: \(instance_id = /)
  },
)

test.each(['findForValidate', 'findForValidateOfTwo', 'findForRuntime'] as const)(
  '%s finds a device by its id, even when most licenses have only one',
  async (name) => {
    await db.query('begin')
    try {
      await db.query(`
        insert into devices (license_id, device_id, tenant_id, instance_id, name, status, activated_at)
        select 'lic_' || n, 'd', 'acme', 'ins_' || n, 'd', 'active', now() from generate_series(1, 1000) n;
        analyze devices`)
      expect(await planOf(calls[name])).toMatch(
        /using devices_pkey .*\n\s+Index Cond: \(\(license_id = \S+ AND \(device_id = /,
      )
    } finally {
      await db.query('rollback')
    }
  },
)
