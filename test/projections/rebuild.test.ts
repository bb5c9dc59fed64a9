/** A rebuild goes on beside the live tables: nobody notices it, and nothing that is written meanwhile is lost. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findLicense, listLicenses } from '../../projections/licenses/queries.ts'
import { createRuntimeLookup } from '../../projections/licenses/runtime.ts'
import { prepareReadModels } from '../../projections/runner/prepare.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { verify } from '../../projections/runner/verify.ts'
import { causeOf } from '../../src/commands/origin.ts'
import { normalised } from '../../src/credentials/license-key.ts'
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
import { beginLife, fullLife, type Life } from './life.ts'
import { dumpTables } from './tables.ts'

let ledger: TestLedger
let life: Life
beforeAll(async () => {
  ledger = await openTestLedger()
  life = await beginLife(ledger)
  for (const step of fullLife) await life.live(step)
})
afterAll(() => ledger.close())

const again = () => rebuild(ledger.db, ledger.services.ledger, noProgress)
const verified = () => verify(ledger.db, ledger.services.ledger, () => undefined)

async function schemas(): Promise<string[]> {
  const { rows } = await ledger.db.query<{ name: string }>(
    "select nspname as name from pg_namespace where nspname like 'read_models%' order by 1",
  )
  return rows.map(({ name }) => name)
}

test('while it runs again and again, every read is answered and every mint is kept', async () => {
  let rebuilding = true
  const { tenantId, licenses } = life
  const keyHash = sha256(normalised(licenses[0]?.licenseKey ?? ''))
  const question = { tenantId, productId: 'editor', keyHash, deviceId: 'device-0' }
  const found = new Set<string>()
  const failed: unknown[] = []
  const whileRebuilding = async (work: () => Promise<unknown>) => {
    while (rebuilding) await work().catch((error: unknown) => failed.push(error))
  }
  // Each with look-ups of its own, as so many processes would have, so that they meet the swap at every point.
  const validate = () => {
    const find = createRuntimeLookup(ledger.db)
    return whileRebuilding(async () => found.add((await find(question)).found))
  }
  const firstPage = { after: undefined, limit: 10 }
  const list = () => whileRebuilding(() => listLicenses(ledger.db, tenantId, {}, beginning, firstPage))
  const write = () => whileRebuilding(() => life.live({ do: 'mint', keyType: 0, seats: 2, person: false }))
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

test('a replay until a moment tells what has changed since, and nothing before', async () => {
  const until = ledger.clock.now().toISOString()
  const log = ledger.services.ledger
  expect((await verify(ledger.db, log, () => undefined, until)).differences).toStrictEqual([])
  ledger.clock.advance(1000)
  await life.live({ do: 'mint', keyType: 0, seats: 2, person: false })
  const { differences } = await verify(ledger.db, log, () => undefined, until)
  expect(new Set(differences.map(({ side }) => side))).toStrictEqual(new Set(['only in live']))
  expect(differences.map(({ table }) => table)).toContain('licenses')
  expect((await verified()).differences).toStrictEqual([])
})

test('a second one at the same time is refused, and the first one ends well', async () => {
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

test('one that is cut off leaves the live tables as they were, and the next clears up after it', async () => {
  const before = await dumpTables(ledger.db)
  const cut = new Error('cut off')
  const onProgress = () => {
    throw cut
  }
  await expect(rebuild(ledger.db, ledger.services.ledger, { ...noProgress, onProgress })).rejects.toBe(cut)
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  await again()
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await schemas()).toStrictEqual(['read_models'])
})

test('tables of another version are rebuilt at the start, and those of this version are left alone', async () => {
  const before = await dumpTables(ledger.db)
  let rebuilds = 0
  // A rebuild reads the log from its start, and tells of its progress; a catch-up has nothing to do here.
  const onProgress = () => {
    rebuilds++
  }
  const prepare = () => prepareReadModels(ledger.db, ledger.services.ledger, { ...noProgress, onProgress })
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

test('missing tables are made at the start, by one of several that start at once, and filled', async () => {
  const before = await dumpTables(ledger.db)
  await ledger.db.query('drop schema read_models cascade')
  const prepare = () => prepareReadModels(ledger.db, ledger.services.ledger, noProgress)
  await Promise.all([prepare(), prepare(), prepare()])
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
})

test('tables of another version are rebuilt when several start at once, and every one of them starts', async () => {
  const before = await dumpTables(ledger.db)
  await ledger.db.query("update checkpoint set fingerprint = 'older'")
  const prepare = () => prepareReadModels(ledger.db, ledger.services.ledger, noProgress)
  await Promise.all([prepare(), prepare(), prepare()])
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await schemas()).toStrictEqual(['read_models'])
})

test('empty tables beside a long log are rebuilt, by one of several that start at once', async () => {
  const pageSize = 1000
  for (let from = 0; from < pageSize; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const tenantId = uniqueId(`long-${from + n}`)
        const data = { tenantId, name: 'Long', plan: 'free', at: beginning } as const
        const created: DomainEvent = { type: 'TenantCreated', data }
        return ledger.services.ledger.append(
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
    prepareReadModels(ledger.db, ledger.services.ledger, { ...noProgress, onStarted }, pageSize / 2)
  await Promise.all([prepare(), prepare()])
  expect(rebuilds).toBeGreaterThan(0)
  expect(await dumpTables(ledger.db)).toStrictEqual(before)
  expect(await schemas()).toStrictEqual(['read_models'])
})
