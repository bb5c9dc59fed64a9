// Guarantee: of several processes one audits the log, once a day, and records what it found; what failed or was
// interrupted is tried again.
import type { Pool } from 'pg'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPool } from '../../projections/database/pool.ts'
import { measureAudits } from '../../src/api/system/audit-metrics.ts'
import { type AuditRun, type RunReport, readAuditHistory } from '../../src/notary/audit/runs.ts'
import { isAuditDue, runAuditSchedule } from '../../src/notary/audit/schedule.ts'
import { createLedgerDatabase, type TestDatabase } from '../harness/database.ts'

let database: TestDatabase
let db: Pool
beforeAll(async () => {
  database = await createLedgerDatabase()
  db = createPool(database.url)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
beforeEach(async () => {
  await db.query('delete from notary.audits')
})

const clean: RunReport = { events: 7, size: 7, problems: [] }
const changed: RunReport = { events: 3, size: 7, problems: [{ kind: 'changed', says: 'one was changed' }] }
const noon = Date.parse('2026-11-23T12:00:00.000Z')
const day = 86_400_000

function startProcess(clock: { now: number }, audit: () => Promise<RunReport>) {
  const stopping = new AbortController()
  const reports: RunReport[] = []
  const failures: unknown[] = []
  const running = runAuditSchedule(db, stopping.signal, {
    at: 3 * 60,
    audit,
    now: () => new Date(clock.now),
    onReport: (report) => reports.push(report),
    onFailure: (error) => failures.push(error),
    pollMs: 5,
    retryMs: 5,
  })
  return {
    reports,
    failures,
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

test('three processes run one audit a day', async () => {
  const clock = { now: noon }
  const processes = [1, 2, 3].map(() => startProcess(clock, () => Promise.resolve(clean)))
  const runs = () => processes.flatMap(({ reports }) => reports).length
  await expect.poll(runs).toBe(1)
  clock.now = noon + day
  await expect.poll(runs).toBe(2)
  await Promise.all(processes.map(({ stop }) => stop()))
  const { rows } = await db.query<{ report: RunReport }>('select report from notary.audits')
  expect(rows.map(({ report }) => report)).toStrictEqual([clean, clean])
})

test('what it found is kept, and shown by the metrics until an audit finds nothing', async () => {
  const clock = { now: noon }
  const registry = new Registry()
  const take = measureAudits(db, registry)
  const shown = async (name: string) => {
    await take()
    return (await registry.getSingleMetric(name)?.get())?.values[0]?.value
  }
  expect(await shown('keyledger_audit_problems')).toBe(0)
  expect(await shown('keyledger_audit_last_success_timestamp_seconds')).toBe(0)
  const found = [changed, clean]
  const process = startProcess(clock, () => Promise.resolve(found.shift() ?? clean))
  await expect.poll(() => process.reports).toStrictEqual([changed])
  expect(await shown('keyledger_audit_problems')).toBe(1)
  expect(await shown('keyledger_audit_last_success_timestamp_seconds')).toBe(0)
  clock.now = noon + day
  await expect.poll(() => process.reports).toStrictEqual([changed, clean])
  await process.stop()
  expect(await shown('keyledger_audit_problems')).toBe(0)
  expect(await shown('keyledger_audit_last_success_timestamp_seconds')).toBe((noon + day) / 1000)
})

test('a failure is recorded, leaves the last finding alone, and is tried again after ten minutes', async () => {
  const clock = { now: noon }
  const finding = startProcess(clock, () => Promise.resolve(changed))
  await expect.poll(() => finding.reports.length).toBe(1)
  await finding.stop()
  clock.now = noon + day
  let fails = true
  const process = startProcess(clock, () =>
    fails ? Promise.reject(new Error('no disk')) : Promise.resolve(clean),
  )
  await expect.poll(() => process.failures.length).toBe(1)
  const history = await readAuditHistory(db)
  expect(history.last).toMatchObject({ report: null, failure: 'no disk' })
  expect(history.lastDone?.report).toStrictEqual(changed)
  expect(history.lastClean).toBeUndefined()
  fails = false
  clock.now += 10 * 60_000
  await expect.poll(() => process.reports).toStrictEqual([clean])
  await process.stop()
})

describe('with the time 03:00, an audit', () => {
  const at = 3 * 60
  const run = (startedAt: string, report: RunReport | null): AuditRun => ({
    startedAt,
    endedAt: report && startedAt,
    report,
    failure: null,
  })
  test.each([
    ['never done', undefined, '2026-11-23T01:00:00Z', true],
    ['done after the last 03:00', run('2026-11-22T03:00:00Z', clean), '2026-11-23T02:59:59Z', false],
    ['done yesterday', run('2026-11-22T03:00:00Z', clean), '2026-11-23T03:00:00Z', true],
    ['that found something', run('2026-11-23T03:00:00Z', changed), '2026-11-23T12:00:00Z', false],
    ['interrupted a moment ago', run('2026-11-23T03:00:00Z', null), '2026-11-23T03:09:59Z', false],
    ['interrupted ten minutes ago', run('2026-11-23T03:00:00Z', null), '2026-11-23T03:10:00Z', true],
  ])('%s: is it due', (_, last, now, isDue) => {
    expect(isAuditDue(last, new Date(now), at)).toBe(isDue)
  })
})
