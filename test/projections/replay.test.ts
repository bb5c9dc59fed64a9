/**
 * The log is the truth: whatever has been done, by however many at once, a replay tells the same story as the live
 * tables, byte for byte, and so does the domain when it folds a stream.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findLicense, listDevices } from '../../projections/licenses/queries.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { verify } from '../../projections/runner/verify.ts'
import { absentLicense, evolveLicense, type License } from '../../src/domain/licenses/license.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import { eventsIn, noProgress, openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { anyStep, beginLife, fullLife, type Life } from './life.ts'
import { dumpTables } from './tables.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const verified = () => verify(ledger.db, ledger.services.ledger, () => undefined)

/** Of every index, and that no table is one that a crash empties. */
async function definitions(): Promise<string[]> {
  const { rows } = await ledger.db.query<{ definition: string }>(
    `select c.relpersistence::text || ' ' || coalesce(pg_get_indexdef(i.indexrelid), c.relname) as definition
     from pg_class c left join pg_index i on i.indexrelid = c.oid
     where c.relnamespace = 'read_models'::regnamespace and c.relkind in ('r', 'i') order by 1`,
  )
  return rows.map(({ definition }) => definition)
}

async function folded(id: string): Promise<License> {
  let license: License = absentLicense
  for (const entry of await eventsIn(ledger.services.ledger, licenseStream(id))) {
    if (entry.readable && entry.category === 'license') license = evolveLicense(license, entry.event)
  }
  return license
}

async function expectSameStory({ licenses, tenantId }: Life): Promise<void> {
  for (const { id } of licenses) {
    const found = await findLicense(ledger.db, tenantId, id)
    const devices = await listDevices(ledger.db, id)
    const inTables = { ...found?.license, seats: new Map(devices.map((seat) => [seat.deviceId, seat])) }
    const inLog = await folded(id)
    if (inLog.status === 'absent') throw new Error('a license that was minted stands in the log')
    expect(inTables).toStrictEqual({ ...inLog, seats: new Map(inLog.seats) })
  }
}

test('after one of everything, verify and rebuild agree with the live tables', async () => {
  const life = await beginLife(ledger)
  for (const step of fullLife) await life.live(step)
  const before = await dumpTables(ledger.db)
  expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toStrictEqual([])
  await expectSameStory(life)
  expect(await verified()).toMatchObject({ differences: [] })
  const indexed = await definitions()
  await rebuild(ledger.db, ledger.services.ledger, noProgress)
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await definitions()).toStrictEqual(indexed)
})

test('for any sequence of commands replay equals live', async () => {
  // Steps of one inner list are taken at once, as several callers would.
  const anyLife = fc.array(fc.array(anyStep, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 12 })
  const check = async (rounds: (typeof fullLife)[number][][]) => {
    const life = await beginLife(ledger)
    await life.live({ do: 'mint', keyType: 0, seats: 2, person: true })
    for (const steps of rounds) await Promise.all(steps.map((step) => life.live(step)))
    await expectSameStory(life)
    expect((await verified()).differences).toStrictEqual([])
    const before = await dumpTables(ledger.db)
    await rebuild(ledger.db, ledger.services.ledger, noProgress)
    expect(await dumpTables(ledger.db)).toStrictEqual(before)
  }
  let last = Promise.resolve()
  await fc.assert(
    fc.asyncProperty(anyLife, (rounds) => {
      last = check(rounds)
      return last
    }),
    { numRuns: 10, interruptAfterTimeLimit: 15_000, endOnFailure: true },
  )
  // When the time is up fast-check leaves the last one running, and its rebuild would mend what the next test breaks.
  await last
})

test('verify names every row that was changed, lost or invented, and a rebuild mends it', async () => {
  const life = await beginLife(ledger)
  for (const step of fullLife) await life.live(step)
  const { db } = ledger
  const id = life.licenses[0]?.id ?? ''
  await db.query('update licenses set seats_used = 99 where license_id = $1', [id])
  await db.query('delete from devices where license_id = $1', [life.licenses[1]?.id])
  await db.query(`insert into key_types values ($1, 'editor', 'invented', '{}', '{}')`, [life.tenantId])
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
  await rebuild(db, ledger.services.ledger, noProgress)
  expect((await verified()).differences).toStrictEqual([])
})
