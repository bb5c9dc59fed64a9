/** Guarantee: a caller that waits for the read models advances them itself, and concurrent callers share the work. */

import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { projectionLock } from '../../projections/database/advisory-locks.ts'
import type { LogPage, LogReader } from '../../projections/runner/log.ts'
import { keepReadModelsCurrent } from '../../projections/runner/projector-role.ts'
import { createReadModels, ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { projectionStatus } from '../../projections/runner/status.ts'
import { findTenant } from '../../projections/tenants.ts'
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

/** Appends without advancing the read models, as a process does that dies right after. */
async function appendTenant(): Promise<{ tenantId: string; position: bigint }> {
  const tenantId = uniqueId('unseen')
  const data = { tenantId, name: 'Unseen', plan: 'free' as const, at: beginning }
  const { ledger: log } = ledger.ports
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

/** A log that counts the pages that are read from it. */
function countedLog(): { log: LogReader; pages: () => number } {
  let pages = 0
  const { ledger: log } = ledger.ports
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

/** The sessions that hold or await this database's projection lock. */
async function holdersOfProjectionLock(): Promise<unknown[]> {
  const { rows } = await ledger.db.query<{ pid: number; granted: boolean }>(
    `select pid, granted from pg_locks
     where locktype = 'advisory' and objid = $1
       and database = (select oid from pg_database where datname = current_database())`,
    [projectionLock],
  )
  return rows
}

test('the effect of a command is visible when it returns, without a running projector', async () => {
  const tenantId = uniqueId('visible')
  await createTenant(ledger.ports, { tenantId, name: 'Visible', plan: 'team' }, origin)
  expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId, plan: 'team' })
  expect(await projectionStatus(ledger.db, ledger.ports.ledger)).toMatchObject({ lagEvents: 0 })
})

test('events of a dead process are applied with the next command', async () => {
  const { tenantId } = await appendTenant()
  expect(await findTenant(ledger.db, tenantId)).toBeUndefined()
  expect(await projectionStatus(ledger.db, ledger.ports.ledger)).toMatchObject({ lagEvents: 1 })
  await createTenant(ledger.ports, { tenantId: uniqueId('next'), name: 'Next', plan: 'team' }, origin)
  expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
})

test('a hundred concurrent callers share at most two batches', async () => {
  const appended = []
  for (let n = 0; n < 100; n++) appended.push(await appendTenant())
  const { log, pages } = countedLog()
  const readModels = readModelsOn(log)
  await Promise.all(appended.map(({ position }) => readModels.advanceTo(position)))
  expect(pages()).toBeLessThanOrEqual(2)
  for (const { tenantId } of appended) expect(await findTenant(ledger.db, tenantId)).toBeDefined()
})

test('a position that is already reached causes no read of the log', async () => {
  const { position } = await appendTenant()
  const { log, pages } = countedLog()
  const readModels = readModelsOn(log)
  await readModels.advanceTo(position)
  const before = pages()
  await readModels.advanceTo(position)
  expect(pages()).toBe(before)
})

test('two processes can advance the read models at once, and both see everything', async () => {
  const appended = await Promise.all(Array.from({ length: 20 }, appendTenant))
  const processes = [readModelsOn(countedLog().log), readModelsOn(countedLog().log)]
  await Promise.all(processes.flatMap((one) => appended.map(({ position }) => one.advanceTo(position))))
  for (const { tenantId } of appended) expect(await findTenant(ledger.db, tenantId)).toBeDefined()
})

test('a process continues at the checkpoint of another process', async () => {
  const { log, pages } = countedLog()
  const own = readModelsOn(log)
  const other = readModelsOn(countedLog().log)
  const appended: string[] = []
  const moveTo = async (readModels: typeof own) => {
    const { tenantId, position } = await appendTenant()
    appended.push(tenantId)
    await readModels.advanceTo(position)
  }
  // After two batches in a row it assumes that no other process has advanced the tables.
  for (const one of [own, own, own, other, own, own, own]) await moveTo(one)
  for (const tenantId of appended) expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
  // One page per batch, also when the other process has applied a part of it.
  expect(pages()).toBe(6)
})

test('a process whose event store hangs holds no lock, so other processes can advance the tables', async () => {
  const { tenantId, position } = await appendTenant()
  const { log } = countedLog()
  const called = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<LogPage>()
  onTestFinished(() => answer.resolve({ entries: [], through: undefined }))
  const hanging: LogReader = {
    head: log.head,
    readPage: () => {
      called.resolve()
      return answer.promise
    },
  }
  const stuck = readModelsOn(hanging, 60_000).advanceTo(position)
  await called.promise
  // Asserted separately: Postgres ends idle transactions, so the other process would succeed later even with the lock.
  expect(await holdersOfProjectionLock()).toStrictEqual([])
  await readModelsOn(log).advanceTo(position)
  expect(await findTenant(ledger.db, tenantId)).toBeDefined()
  answer.resolve({ entries: [], through: undefined })
  await stuck
})

test('a failed read of the log is retried', async () => {
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

test('callers get an error while the log stays unreadable, and later ones succeed', async () => {
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

test('a command fails with ReadModelsBehind when the read models stall, and its events are in the log', async () => {
  const { ledger: log } = ledger.ports
  const stalled: LogReader = {
    head: () => log.head(),
    readPage: async () => ({ entries: [], through: undefined }),
  }
  const execute = createExecute(log, readModelsOn(stalled, 30), createKeyedMutex())
  const tenantId = uniqueId('stalled')
  const create = createTenant(
    { ...ledger.ports, execute },
    { tenantId, name: 'Stalled', plan: 'free' },
    origin,
  )
  await expect(create).rejects.toBeInstanceOf(ReadModelsBehind)
  await ledger.readModels.catchUp()
  expect(await findTenant(ledger.db, tenantId)).toMatchObject({ tenantId })
})

test('the projector role reaches the last event, also after a failure', async () => {
  const before = await ledger.ports.ledger.head()
  const appended = [await appendTenant(), await appendTenant(), await appendTenant()]
  const last = appended[2]
  const { entries } = await ledger.ports.ledger.readPage(before, 10)
  async function* follow() {
    for (const entry of entries) {
      yield entry
      await setTimeout(1)
    }
    await expect.poll(() => findTenant(ledger.db, last?.tenantId ?? '')).toBeDefined()
  }
  const failures: unknown[] = []
  let calls = 0
  await keepReadModelsCurrent(
    follow(),
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

test('tables of another version are advanced only by its own processes, which callers then wait for', async () => {
  const before = await ledger.ports.ledger.head()
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
  expect((await projectionStatus(ledger.db, ledger.ports.ledger)).parked).toStrictEqual([])
})
