// Guarantee: one process of an installation makes each scheduled backup. Old backups are removed after a new
// one is made, failures are recorded, and partial files of killed processes are removed.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createPool } from '../../projections/database/pool.ts'
import { readBackupHistory } from '../../src/backup/history.ts'
import { runBackupSchedule } from '../../src/backup/schedule.ts'
import { createLedgerDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool
let directory: string
beforeAll(async () => {
  database = await createLedgerDatabase()
  db = createPool(database.url)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
beforeEach(async () => {
  await db.query('delete from operations.backups')
  directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  return () => rmSync(directory, { recursive: true, force: true })
})

const hour = 3_600_000
const noon = Date.parse('2026-11-23T12:00:00.000Z')

/** A process that polls all the time, with the test's clock. */
function startProcess(
  clock: { now: number },
  make: (file: string) => Promise<void>,
  { pool = db, lookEveryMs = 5 }: { pool?: Pool; lookEveryMs?: number } = {},
) {
  const stopping = new AbortController()
  const made: string[] = []
  const failures: unknown[] = []
  const running = runBackupSchedule(pool, stopping.signal, {
    schedule: { directory, intervalMs: hour, keep: 2 },
    make: async (file) => {
      await make(file)
      return { bytes: 1, events: 1 }
    },
    now: () => new Date(clock.now),
    onMade: ({ file }) => made.push(file),
    onFailure: (error) => failures.push(error),
    pollMs: lookEveryMs,
    retryMs: 5,
  })
  return {
    made,
    failures,
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

const write = async (file: string) => writeFileSync(file, 'a backup')

test('three processes make one backup per interval, and keep two', async () => {
  writeFileSync(join(directory, 'somebody-elses.backup'), '')
  writeFileSync(join(directory, '.keyledger-2026-11-22T12-00-00Z.backup.partial'), 'half')
  const clock = { now: noon }
  const processes = [1, 2, 3].map(() => startProcess(clock, write))
  const made = () => processes.flatMap((process) => process.made).length
  for (const count of [1, 2, 3]) {
    await expect.poll(made).toBe(count)
    clock.now += hour
  }
  await expect.poll(made).toBe(4)
  await Promise.all(processes.map((process) => process.stop()))
  expect(made()).toBe(4)
  expect(readdirSync(directory).sort()).toStrictEqual([
    'keyledger-2026-11-23T14-00-00Z.backup',
    'keyledger-2026-11-23T15-00-00Z.backup',
    'somebody-elses.backup',
  ])
  expect(processes.flatMap(({ failures }) => failures)).toStrictEqual([])
})

test('a failure is recorded, retried after ten minutes, and deletes nothing', async () => {
  const former = 'keyledger-2026-11-20T12-00-00Z.backup'
  for (const name of [former, former.replace('20T', '21T'), former.replace('20T', '22T')]) {
    writeFileSync(join(directory, name), '')
  }
  const clock = { now: noon }
  let fails = true
  const process = startProcess(clock, async (file) => {
    if (fails) throw new Error('the disk is full')
    await write(file)
  })
  await expect.poll(() => process.failures).toHaveLength(1)
  const { last, lastGood } = await readBackupHistory(db)
  expect(last).toMatchObject({ problem: 'the disk is full', startedAt: '2026-11-23T12:00:00.000Z' })
  expect(lastGood).toBeUndefined()
  expect(readdirSync(directory)).toHaveLength(3)
  fails = false
  clock.now += 10 * 60_000
  await expect.poll(() => process.made).toHaveLength(1)
  await process.stop()
  expect(await readBackupHistory(db)).toMatchObject({
    last: { problem: null },
    lastGood: { startedAt: '2026-11-23T12:10:00.000Z', endedAt: '2026-11-23T12:10:00.000Z' },
  })
})

test('a process that ends leaves its run open, and another one retries it', async () => {
  const clock = { now: noon }
  const stopped = Promise.withResolvers<void>()
  const first = startProcess(clock, () => stopped.promise)
  await expect.poll(async () => (await readBackupHistory(db)).last).toMatchObject({ endedAt: null })
  const ending = first.stop()
  stopped.reject(new Error('it was ended'))
  await ending
  expect(await readBackupHistory(db)).toMatchObject({ last: { endedAt: null, problem: null } })
  clock.now += 10 * 60_000
  const second = startProcess(clock, write)
  await expect.poll(() => second.made).toHaveLength(1)
  await second.stop()
  expect(first.failures).toStrictEqual([])
})

test('after a database error the schedule checks again soon, not at the next poll', async () => {
  const unreachable = createPool('postgresql://nobody@127.0.0.1:1/none')
  onTestFinished(() => unreachable.end())
  const pool = Object.create(db, {
    query: {
      value: (...asked: Parameters<Pool['query']>) => (fails-- > 0 ? unreachable : db).query(...asked),
    },
  }) as Pool
  let fails = 2
  const process = startProcess({ now: noon }, write, { pool, lookEveryMs: hour })
  await expect.poll(() => process.made).toHaveLength(1)
  await process.stop()
  expect(process.failures).toHaveLength(2)
})
