/** Guarantee: a rebuild interrupts no query, and loses no concurrent write. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findLicense, listLicenses } from '../../projections/licenses/queries.ts'
import { createRuntimeLookup } from '../../projections/licenses/runtime.ts'
import { prepareReadModels } from '../../projections/runner/prepare.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { verify } from '../../projections/runner/verify.ts'
import { causeOf } from '../../src/commands/origin.ts'
import { normalized } from '../../src/credentials/license-key.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import type { DomainEvent } from '../../src/domain/events.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import {
  beginning,
  noProgress,
  openTestLedger,
  origin,
  type TestLedger,
  uniqueId,
} from '../harness/ledger.ts'
import { type Scenario, startScenario } from './scenario.ts'
import { everyStep } from './steps.ts'
import { dumpTables } from './tables.ts'

let ledger: TestLedger
let scenario: Scenario
beforeAll(async () => {
  ledger = await openTestLedger()
  scenario = await startScenario(ledger)
  for (const step of everyStep) await scenario.run(step)
})
afterAll(() => ledger.close())

const again = () => rebuild(ledger.db, ledger.ports.ledger, noProgress)
const verified = () => verify(ledger.db, ledger.ports.ledger, () => undefined)

async function schemas(): Promise<string[]> {
  const { rows } = await ledger.db.query<{ name: string }>(
    "select nspname as name from pg_namespace where nspname like 'read_models%' order by 1",
  )
  return rows.map(({ name }) => name)
}

test('every read and every mint succeeds during repeated rebuilds', async () => {
  let rebuilding = true
  const { tenantId, licenses } = scenario
  const keyHash = sha256(normalized(licenses[0]?.licenseKey ?? ''))
  const params = { tenantId, productId: 'editor', keyHash, keyedHash: null, deviceId: 'device-0' }
  const found = new Set<string>()
  const failed: unknown[] = []
  const whileRebuilding = async (work: () => Promise<unknown>) => {
    while (rebuilding) await work().catch((error: unknown) => failed.push(error))
  }
  // Each has its own lookups, as separate processes would, so that queries hit the swap at every point.
  const validate = () => {
    const find = createRuntimeLookup(ledger.db)
    return whileRebuilding(async () => found.add((await find(params)).kind))
  }
  const firstPage = { after: undefined, limit: 10 }
  const list = () => whileRebuilding(() => listLicenses(ledger.db, tenantId, {}, beginning, firstPage))
  const write = () => whileRebuilding(() => scenario.run({ do: 'mint', keyType: 0, seats: 2, person: false }))
  const rebuilds = async () => {
    for (let times = 0; times < 4; times++) await again().catch((error: unknown) => failed.push(error))
    rebuilding = false
  }
  await Promise.all([
    rebuilds(),
    validate(),
    list(),
    validate(),
    list(),
    validate(),
    list(),
    write(),
    write(),
  ])
  expect(failed).toStrictEqual([])
  expect(found).toStrictEqual(new Set(['license']))
  expect(licenses.length).toBeGreaterThan(8)
  for (const { id } of licenses) expect(await findLicense(ledger.db, tenantId, id)).toBeDefined()
  expect((await verified()).differences).toStrictEqual([])
  expect(await schemas()).toStrictEqual(['read_models'])
})

test('a verify until a time reports only the changes since then', async () => {
  const until = ledger.clock.now().toISOString()
  const log = ledger.ports.ledger
  expect((await verify(ledger.db, log, () => undefined, until)).differences).toStrictEqual([])
  ledger.clock.advance(1000)
  await scenario.run({ do: 'mint', keyType: 0, seats: 2, person: false })
  const { differences } = await verify(ledger.db, log, () => undefined, until)
  // A count that has changed since differs on both sides.
  const uncounted = differences.filter(({ table }) => !/^license_(?:days|ends)$/.test(table))
  expect(new Set(uncounted.map(({ side }) => side))).toStrictEqual(new Set(['only in live']))
  expect(differences.map(({ table }) => table)).toContain('licenses')
  expect((await verified()).differences).toStrictEqual([])
})

test('a second concurrent rebuild is refused, and the first one succeeds', async () => {
  const outcomes = await Promise.allSettled([again(), again(), again()])
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  const done = outcomes.filter(({ status }) => status === 'fulfilled')
  expect(done.length).toBeGreaterThan(0)
  for (const outcome of refused) {
    expect(outcome).toMatchObject({
      reason: { message: 'another process is running the same replay; wait for it, or stop it' },
    })
  }
  expect((await verified()).differences).toStrictEqual([])
})

test('an interrupted rebuild leaves the live tables unchanged, and the next one cleans up', async () => {
  const before = await dumpTables(ledger.db)
  const cut = new Error('cut off')
  const onProgress = () => {
    throw cut
  }
  await expect(rebuild(ledger.db, ledger.ports.ledger, { ...noProgress, onProgress })).rejects.toBe(cut)
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  await again()
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await schemas()).toStrictEqual(['read_models'])
})

test('tables of another version are rebuilt at start, and those of this version are kept', async () => {
  const before = await dumpTables(ledger.db)
  let rebuilds = 0
  // Only a rebuild reports progress here: there is nothing to catch up with.
  const onProgress = () => {
    rebuilds++
  }
  const prepare = () => prepareReadModels(ledger.db, ledger.ports.ledger, { ...noProgress, onProgress })
  await prepare()
  expect(rebuilds).toBe(0)
  await ledger.db.query(
    "update checkpoint set fingerprint = 'older'; delete from licenses; alter table devices drop column name",
  )
  await prepare()
  expect(rebuilds).toBe(1)
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  await prepare()
  expect(rebuilds).toBe(1)
})

test('missing tables are created and filled at start, once for several concurrent starts', async () => {
  const before = await dumpTables(ledger.db)
  await ledger.db.query('drop schema read_models cascade')
  const prepare = () => prepareReadModels(ledger.db, ledger.ports.ledger, noProgress)
  await Promise.all([prepare(), prepare(), prepare()])
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
})

test('several processes start concurrently on tables of another version, which are rebuilt', async () => {
  const before = await dumpTables(ledger.db)
  await ledger.db.query("update checkpoint set fingerprint = 'older'")
  const prepare = () => prepareReadModels(ledger.db, ledger.ports.ledger, noProgress)
  await Promise.all([prepare(), prepare(), prepare()])
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await schemas()).toStrictEqual(['read_models'])
})

test('missing tables with a long log are rebuilt by several concurrent starts', async () => {
  const pageSize = 1000
  for (let from = 0; from < pageSize; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const tenantId = uniqueId(`long-${from + n}`)
        const data = { tenantId, name: 'Long', plan: 'free', at: beginning } as const
        const created: DomainEvent = { type: 'TenantCreated', data }
        return ledger.ports.ledger.append(
          tenantStream(tenantId),
          'no_stream',
          [created],
          causeOf(origin, beginning),
        )
      }),
    )
  }
  await ledger.readModels.catchUp()
  const before = await dumpTables(ledger.db)
  await ledger.db.query('drop schema read_models cascade')
  let rebuilds = 0
  const onStarted = async () => {
    rebuilds++
  }
  const prepare = () =>
    prepareReadModels(ledger.db, ledger.ports.ledger, { ...noProgress, onStarted }, pageSize / 2)
  await Promise.all([prepare(), prepare()])
  expect(rebuilds).toBeGreaterThan(0)
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await schemas()).toStrictEqual(['read_models'])
})
