/** Whoever waits for the read models pushes them, and those who wait at once share the work. */

import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { projectionLock } from '../../projections/database/advisory-locks.ts'
import type { LogPage, LogReader } from '../../projections/runner/log.ts'
import { keepReadModelsCurrent } from '../../projections/runner/projector-role.ts'
import { createReadModels, ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { projectionStatus } from '../../projections/runner/status.ts'
import { findTenant } from '../../projections/tenants/queries.ts'
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { causeOf } from '../../src/commands/origin.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { createExecute } from '../../src/ledger/execute.ts'
import { beginning, openTestLedger, origin, type TestLedger, uniqueId } from '../harness/ledger.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

/** Appends without moving the read models, as a process does that dies right after. */
async function appendTenant(): Promise<{ tenantId: string; position: bigint }> {
  const tenantId = uniqueId('unseen')
  const data = { tenantId, name: 'Unseen', plan: 'free' as const, at: beginning }
  const { ledger: log } = ledger.services
  const cause = causeOf(origin, beginning)
  const outcome = await log.append(
    tenantStream(tenantId),
    'no_stream',
    [{ type: 'TenantCreated', data }],
    cause,
  )
  if (!outcome.appended) throw new Error('the stream is new')
  return { tenantId, position: outcome.position }
}

/** The log, with every page that is read from it counted. */
function countedLog(): { log: LogReader; pages: () => number } {
  let pages = 0
  const { ledger: log } = ledger.services
  return {
    log: {
      head: () => log.head(),
      readPage: (after, limit) => {
        pages++
        return log.readPage(after, limit)
      },
    },
    pages: () => pages,
  }
}

const readModelsOn = (log: LogReader, timeLimitMs = 10_000) =>
  createReadModels(ledger.db, log, { timeLimitMs, onParked: () => undefined, onFailure: () => undefined })

/** The sessions that hold or await the lock of this database's read models. */
async function holdersOfProjectionLock(): Promise<unknown[]> {
  const { rows } = await ledger.db.query<{ pid: number; granted: boolean }>(
    `select pid, granted from pg_locks
     where locktype = 'advisory' and objid = $1
       and database = (select oid from pg_database where datname = current_database())`,
    [projectionLock],
  )
  return rows
}

test('a command is visible when it returns, with no projector running', async () => {
  const tenantId = uniqueId('visible')
  await createTenant(ledger.services, { tenantId, name: 'Visible', plan: 'team' }, origin)
  expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId, plan: 'team' })
  expect(await projectionStatus(ledger.db, ledger.services.ledger)).toMatchObject({ lagEvents: 0 })
})

test('what a dead process had recorded is carried along by the next command', async () => {
  const { tenantId } = await appendTenant()
  expect(await findTenant(ledger.db, tenantId)).toBeUndefined()
  expect(await projectionStatus(ledger.db, ledger.services.ledger)).toMatchObject({ lagEvents: 1 })
  await createTenant(ledger.services, { tenantId: uniqueId('next'), name: 'Next', plan: 'team' }, origin)
  expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
})

test('a hundred that wait at once share a few rounds', async () => {
  const appended = []
  for (let n = 0; n < 100; n++) appended.push(await appendTenant())
  const { log, pages } = countedLog()
  const readModels = readModelsOn(log)
  await Promise.all(appended.map(({ position }) => readModels.advanceTo(position)))
  expect(pages()).toBeLessThanOrEqual(2)
  for (const { tenantId } of appended) expect(await findTenant(ledger.db, tenantId)).toBeDefined()
})

test('a position that was reached already costs nothing', async () => {
  const { position } = await appendTenant()
  const { log, pages } = countedLog()
  const readModels = readModelsOn(log)
  await readModels.advanceTo(position)
  const before = pages()
  await readModels.advanceTo(position)
  expect(pages()).toBe(before)
})

test('two processes push at once without harm, and both see everything', async () => {
  const appended = await Promise.all(Array.from({ length: 20 }, appendTenant))
  const processes = [readModelsOn(countedLog().log), readModelsOn(countedLog().log)]
  await Promise.all(processes.flatMap((one) => appended.map(({ position }) => one.advanceTo(position))))
  for (const { tenantId } of appended) expect(await findTenant(ledger.db, tenantId)).toBeDefined()
})

test('tables that somebody else has moved are folded into from where they stand', async () => {
  const { log, pages } = countedLog()
  const own = readModelsOn(log)
  const other = readModelsOn(countedLog().log)
  const appended: string[] = []
  const moveTo = async (readModels: typeof own) => {
    const { tenantId, position } = await appendTenant()
    appended.push(tenantId)
    await readModels.advanceTo(position)
  }
  // After two rounds in a row it expects to find the tables where it left them.
  for (const one of [own, own, own, other, own, own, own]) await moveTo(one)
  for (const tenantId of appended) expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
  // One page a round, also where the other has folded a part of it.
  expect(pages()).toBe(6)
})

test('a process whose event store hangs holds no lock, and keeps no other one from moving the tables', async () => {
  const { tenantId, position } = await appendTenant()
  const { log } = countedLog()
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<LogPage>()
  onTestFinished(() => answer.resolve({ entries: [], through: undefined }))
  const hanging: LogReader = {
    head: log.head,
    readPage: () => {
      asked.resolve()
      return answer.promise
    },
  }
  const stuck = readModelsOn(hanging, 60_000).advanceTo(position)
  await asked.promise
  // Postgres ends a transaction that stays idle: the other process would go on in the end even if the lock was held.
  expect(await holdersOfProjectionLock()).toStrictEqual([])
  await readModelsOn(log).advanceTo(position)
  expect(await findTenant(ledger.db, tenantId)).toBeDefined()
  answer.resolve({ entries: [], through: undefined })
  await stuck
})

test('a log that cannot be read for a moment is read again', async () => {
  const { tenantId, position } = await appendTenant()
  const { log } = countedLog()
  let failures = 2
  const flaky: LogReader = {
    head: log.head,
    readPage: async (after, limit) => {
      if (failures-- > 0) throw new Error('not at this moment')
      return log.readPage(after, limit)
    },
  }
  await readModelsOn(flaky).advanceTo(position)
  expect(await findTenant(ledger.db, tenantId)).toBeDefined()
})

test('a log that stays unreadable is told to whoever waits, and the next command goes through', async () => {
  const { tenantId, position } = await appendTenant()
  const { log } = countedLog()
  let broken = true
  const failing: LogReader = {
    head: log.head,
    readPage: async (after, limit) => {
      if (broken) throw new Error('no log')
      return log.readPage(after, limit)
    },
  }
  const readModels = readModelsOn(failing, 30)
  await expect(readModels.advanceTo(position)).rejects.toBeInstanceOf(ReadModelsBehind)
  expect(await findTenant(ledger.db, tenantId)).toBeUndefined()
  broken = false
  await readModelsOn(failing).advanceTo(position)
  expect(await findTenant(ledger.db, tenantId)).toBeDefined()
})

test('a command whose read models stall says so, and stands in the log', async () => {
  const { ledger: log } = ledger.services
  const stalled: LogReader = {
    head: () => log.head(),
    readPage: async () => ({ entries: [], through: undefined }),
  }
  const execute = createExecute(log, readModelsOn(stalled, 30), createKeyedMutex())
  const tenantId = uniqueId('stalled')
  const create = createTenant(
    { ...ledger.services, execute },
    { tenantId, name: 'Stalled', plan: 'free' },
    origin,
  )
  await expect(create).rejects.toBeInstanceOf(ReadModelsBehind)
  await ledger.readModels.catchUp()
  expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
})

test('the running projector follows to the last notice, past one that it could not follow', async () => {
  const before = await ledger.services.ledger.head()
  const appended = [await appendTenant(), await appendTenant(), await appendTenant()]
  const last = appended[2]
  const { entries } = await ledger.services.ledger.readPage(before, 10)
  async function* notices() {
    for (const entry of entries) {
      yield entry
      await setTimeout(1)
    }
    await vi.waitFor(async () => expect(await findTenant(ledger.db, last?.tenantId ?? '')).toBeDefined())
  }
  const failures: unknown[] = []
  let calls = 0
  await keepReadModelsCurrent(
    notices(),
    {
      ...ledger.readModels,
      advanceTo: async (position) => {
        if (calls++ === 0) throw new Error('once')
        await ledger.readModels.advanceTo(position)
      },
    },
    (error) => failures.push(error),
  )
  expect(failures).toStrictEqual([new Error('once')])
})

test('tables of another version are left to its processes, and followed as they move them', async () => {
  const before = await ledger.services.ledger.head()
  const { tenantId, position } = await appendTenant()
  const { log } = countedLog()
  const { rows } = await ledger.db.query<{ fingerprint: string }>('select fingerprint from checkpoint')
  const name = (fingerprint: string | undefined) =>
    ledger.db.query('update checkpoint set fingerprint = $1', [fingerprint])
  await name('another version')
  await expect(readModelsOn(log, 30).advanceTo(position)).rejects.toBeInstanceOf(ReadModelsBehind)
  expect(await findTenant(ledger.db, tenantId)).toBeUndefined()
  const following = readModelsOn(log).advanceTo(position)
  await ledger.db.query('update checkpoint set position = $1', [position])
  await following
  await ledger.db.query('update checkpoint set position = $1', [before])
  await name(rows[0]?.fingerprint)
  await readModelsOn(log).advanceTo(position)
  expect(await findTenant(ledger.db, tenantId)).toBeDefined()
  expect((await projectionStatus(ledger.db, ledger.services.ledger)).parked).toStrictEqual([])
})
