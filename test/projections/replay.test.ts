/**
 * Guarantee: after any sequence of concurrent commands, a replay of the log gives the same rows as the live tables, byte
 * for byte, and evolving a stream gives the same state.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findLicense, listDevices } from '../../projections/licenses/queries.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { verify } from '../../projections/runner/verify.ts'
import { absentLicense, evolveLicense, type License } from '../../src/domain/licenses/license.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import { eventsIn, noProgress, openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { type Scenario, startScenario } from './scenario.ts'
import { anyStep, everyStep } from './steps.ts'
import { dumpTables } from './tables.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const verified = () => verify(ledger.db, ledger.ports.ledger, () => undefined)

/** The definitions of all indexes and tables, with the persistence: none may be unlogged. */
async function definitions(): Promise<string[]> {
  const { rows } = await ledger.db.query<{ definition: string }>(
    `select c.relpersistence::text || ' ' || coalesce(pg_get_indexdef(i.indexrelid), c.relname) as definition
     from pg_class c left join pg_index i on i.indexrelid = c.oid
     where c.relnamespace = 'read_models'::regnamespace and c.relkind in ('r', 'i') order by 1`,
  )
  return rows.map(({ definition }) => definition)
}

async function evolved(id: string): Promise<License> {
  let license: License = absentLicense
  for (const entry of await eventsIn(ledger.ports.ledger, licenseStream(id))) {
    if (entry.readable && entry.category === 'license') license = evolveLicense(license, entry.event)
  }
  return license
}

async function expectTablesToMatchLog({ licenses, tenantId }: Scenario): Promise<void> {
  for (const { id } of licenses) {
    const found = await findLicense(ledger.db, tenantId, id)
    const devices = await listDevices(ledger.db, id)
    const inTables = { ...found?.license, seats: new Map(devices.map((seat) => [seat.deviceId, seat])) }
    const inLog = await evolved(id)
    if (inLog.status === 'absent') throw new Error('the minted license is not in the log')
    expect(inTables).toStrictEqual({ ...inLog, seats: new Map(inLog.seats) })
  }
}

test('verify and rebuild agree with the live tables after every kind of step', async () => {
  const scenario = await startScenario(ledger)
  for (const step of everyStep) await scenario.run(step)
  const before = await dumpTables(ledger.db)
  expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toStrictEqual([])
  await expectTablesToMatchLog(scenario)
  expect(await verified()).toMatchObject({ differences: [] })
  const indexed = await definitions()
  await rebuild(ledger.db, ledger.ports.ledger, noProgress)
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await definitions()).toStrictEqual(indexed)
})

test('a replay equals the live tables for any sequence of commands', async () => {
  // The steps of an inner list run concurrently, as from several callers.
  const anyScenario = fc.array(fc.array(anyStep, { minLength: 1, maxLength: 4 }), {
    minLength: 3,
    maxLength: 12,
  })
  const check = async (groups: (typeof everyStep)[number][][]) => {
    const scenario = await startScenario(ledger)
    await scenario.run({ do: 'mint', keyType: 0, seats: 2, person: true })
    for (const steps of groups) await Promise.all(steps.map((step) => scenario.run(step)))
    await expectTablesToMatchLog(scenario)
    expect((await verified()).differences).toStrictEqual([])
    const before = await dumpTables(ledger.db)
    await rebuild(ledger.db, ledger.ports.ledger, noProgress)
    expect(await dumpTables(ledger.db)).toStrictEqual(before)
  }
  let last = Promise.resolve()
  await fc.assert(
    fc.asyncProperty(anyScenario, (groups) => {
      last = check(groups)
      return last
    }),
    { numRuns: 10, interruptAfterTimeLimit: 15_000, endOnFailure: true },
  )
  // At its time limit fast-check leaves the last run unfinished; its rebuild would undo the next test's changes.
  await last
})

test('verify reports every changed, missing or added row, and a rebuild fixes it', async () => {
  const scenario = await startScenario(ledger)
  for (const step of everyStep) await scenario.run(step)
  const { db } = ledger
  const id = scenario.licenses[0]?.id ?? ''
  await db.query('update licenses set seats_used = 99 where license_id = $1', [id])
  await db.query('delete from devices where license_id = $1', [scenario.licenses[1]?.id])
  await db.query(`insert into key_types values ($1, 'editor', 'invented', '{}', '{}')`, [scenario.tenantId])
  const { differences } = await verified()
  expect(differences.map(({ table, side }) => `${table}: ${side}`).sort()).toStrictEqual([
    'devices: only in replay',
    'key_types: only in live',
    'licenses: only in live',
    'licenses: only in replay',
  ])
  expect(
    differences.find(({ table, side }) => table === 'licenses' && side === 'only in live')?.row,
  ).toMatchObject({
    license_id: id,
    seats_used: 99,
  })
  await rebuild(db, ledger.ports.ledger, noProgress)
  expect((await verified()).differences).toStrictEqual([])
})
