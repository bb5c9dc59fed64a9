/**
 * Guarantee: the list of withdrawn license files has exactly those that the rules of a license withdraw, and reads only
 * devices with such files.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { listDevices } from '../../projections/licenses/queries.ts'
import { listWithdrawn } from '../../projections/licenses/withdrawn.ts'
import { absentLicense, evolveLicense, type License } from '../../src/domain/licenses/license.ts'
import { withdrawnFiles } from '../../src/domain/licenses/seat-files.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import { commandLicense, eventsIn, openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { type Scenario, startScenario } from './scenario.ts'
import type { Step } from './steps.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const now = () => ledger.clock.now().toISOString()

async function inLog({ licenses }: Scenario): Promise<string[]> {
  const files: string[] = []
  for (const { id } of licenses) {
    let license: License = absentLicense
    for (const entry of await eventsIn(ledger.ports.ledger, licenseStream(id)))
      if (entry.readable && entry.category === 'license') license = evolveLicense(license, entry.event)
    if (license.status !== 'issued') continue
    for (const seat of license.seats.values())
      files.push(...withdrawnFiles(seat.files ?? [], license, now()).map(({ fileId }) => fileId))
  }
  return files.sort()
}

const listed = ({ tenantId }: Scenario, productId = 'editor') =>
  listWithdrawn(ledger.db, { tenantId, productId }, now())

test.each<[string, Step[], number]>([
  ['none of a license in use', [], 0],
  ['all of one that is suspended', [{ do: 'suspend license', license: 0 }], 2],
  [
    'none of one that is resumed',
    [
      { do: 'suspend license', license: 0 },
      { do: 'resume license', license: 0 },
    ],
    0,
  ],
  ['all of one that is revoked', [{ do: 'revoke', license: 0 }], 2],
  ['those for a key that was replaced', [{ do: 'remint', license: 0, keepDevices: true }], 2],
  [
    'those for a key that was replaced, beside the newer one',
    [
      { do: 'remint', license: 0, keepDevices: true },
      { do: 'issue file', license: 0, machine: 0, install: 0 },
    ],
    2,
  ],
  ['that of an install that was replaced', [{ do: 'issue file', license: 0, machine: 0, install: 1 }], 1],
  ['none that its device renewed', [{ do: 'issue file', license: 0, machine: 0, install: 0 }], 0],
  ['one that was given back', [{ do: 'release file', license: 0, machine: 0 }], 1],
  [
    'those before the one that was given back too: a copy of the machine may have them',
    [
      { do: 'issue file', license: 0, machine: 0, install: 0 },
      { do: 'release file', license: 0, machine: 0 },
    ],
    2,
  ],
  [
    'not the one that a device got after it had given one back',
    [
      { do: 'release file', license: 0, machine: 0 },
      { do: 'issue file', license: 0, machine: 0, install: 0 },
    ],
    1,
  ],
  [
    'each once of a license that is suspended and whose device gave one back',
    [
      { do: 'release file', license: 0, machine: 0 },
      { do: 'suspend license', license: 0 },
    ],
    2,
  ],
  [
    'none that has ended',
    [
      { do: 'suspend license', license: 0 },
      { do: 'wait', days: 31 },
    ],
    0,
  ],
])('%s', async (_, steps, count) => {
  const scenario = await startScenario(ledger)
  const made: Step[] = [
    { do: 'mint', keyType: 0, seats: 3, person: false },
    { do: 'mint', keyType: 0, seats: 3, person: false },
    { do: 'renew', license: 0 },
    { do: 'issue file', license: 0, machine: 0, install: 0 },
    { do: 'issue file', license: 0, machine: 1, install: 0 },
    { do: 'issue file', license: 1, machine: 0, install: 0 },
  ]
  for (const step of [...made, ...steps]) await scenario.run(step)
  const files = await listed(scenario)
  expect(files).toHaveLength(count)
  expect(files).toStrictEqual(await inLog(scenario))
  expect(await listed(scenario, 'another')).toStrictEqual([])
  expect(await listDevices(ledger.db, scenario.licenses[1]?.id ?? '')).toHaveLength(1)
})

test('one that was given back, also once its device is active again under the same id', async () => {
  const scenario = await startScenario(ledger)
  for (const step of [
    { do: 'mint', keyType: 0, seats: 3, person: false },
    { do: 'issue file', license: 0, machine: 0, install: 0 },
    { do: 'release file', license: 0, machine: 0 },
  ] as const)
    await scenario.run(step)
  const files = await listed(scenario)
  expect(files).toHaveLength(1)
  const licenseId = scenario.licenses[0]?.id ?? ''
  const [device] = await listDevices(ledger.db, licenseId)
  if (!device) throw new Error('no device')
  const { deviceId, instanceId, name } = device
  const again = { deviceId, instanceId, installId: null, name, platform: null, at: now() }
  await commandLicense(ledger, licenseId, { type: 'ActivateDevice', ...again })
  expect(await listDevices(ledger.db, licenseId)).toMatchObject([{ deviceId, status: 'active' }])
  expect(await listed(scenario)).toStrictEqual(files)
  expect(await inLog(scenario)).toStrictEqual(files)
})

const Statement = z.object({ text: z.string() })
const Plan = z.array(z.object({ 'QUERY PLAN': z.string() }))

test('of 20,000 devices with files, those of withdrawn files are read', async () => {
  const { db } = ledger
  const client = await db.connect()
  try {
    await client.query('begin')
    await client.query(manyDevices)
    await client.query('analyze licenses')
    await client.query('analyze devices')
    const query = vi.spyOn(db, 'query').mockResolvedValue({ rows: [] } as never)
    await listWithdrawn(db, { tenantId: 'crowd', productId: 'editor' }, '2026-03-01T00:00:00.000Z')
    const { text } = Statement.parse(query.mock.calls[0]?.[0])
    query.mockRestore()
    const { rows } = await client.query(`explain (analyze, timing off, costs off) ${text}`, [
      'crowd',
      'editor',
      '2026-03-01T00:00:00.000Z',
    ])
    const plan = Plan.parse(rows)
      .map((row) => row['QUERY PLAN'])
      .join('\n')
    expect(plan).toContain('licenses_with_withdrawn_files')
    expect(plan).toContain('devices_with_withdrawn_files')
    expect(plan).not.toContain('Seq Scan')
    const read = [...plan.matchAll(/rows=(\d+)/g)].map(([, count]) => Number(count))
    expect(Math.max(...read)).toBe(20)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

/** Of 20,000 licenses with one device and a file each, ten are suspended, and ten devices gave their file back. */
const manyDevices = `
  insert into licenses (license_id, tenant_id, product_id, key_type_id, revision, key_hash, display_key,
    quantity, seats_used, last_fence, on_expiry, source, test, sale_through, refunded_payments, freed_by_customer_at,
    device_subjects, relays, metadata, created_at, files_until, suspended_at, withdrawn_until)
  select 'lic_' || n, 'crowd', 'editor', 'default', 0, md5(n::text), 'ACME…' || n,
    1, 1, 0, 'expire', 'api', false, 0, '[]', '[]', '[]', '[]', '{}', '2026-01-01', '2027-01-01',
    case when n % 2000 = 0 then '2026-02-01'::timestamptz end, case when n % 2000 = 0 then '2027-01-01'::timestamptz end
  from generate_series(1, 20000) as n;
  insert into devices (license_id, device_id, tenant_id, instance_id, name, status, activated_at, files, withdrawn_until)
  select 'lic_' || n, 'd', 'crowd', 'ins_' || n, 'd', 'active', '2026-01-01', '[]',
    case when n % 2000 = 1 then '2027-01-01'::timestamptz end
  from generate_series(1, 20000) as n`
