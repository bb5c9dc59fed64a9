/** Guarantee: usage is summed in memory and written in batches; a failed write loses and duplicates nothing. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createUsageCounter, type UsageCounter } from '../../src/usage/counter.ts'
import { openTestLedger, type TestLedger, uniqueId } from '../harness/ledger.ts'

let ledger: TestLedger
let tenantId: string
let failures: unknown[]
let counter: UsageCounter
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())
beforeEach(() => {
  tenantId = uniqueId('usage')
  failures = []
  const hour = 3_600_000
  counter = createUsageCounter(ledger.db, ledger.clock.now, (error) => failures.push(error), hour)
  return () => counter.stop()
})

async function written(): Promise<unknown[]> {
  const { rows } = await ledger.db.query(
    `select product_id, to_char(hour at time zone 'utc', 'HH24:MI:SS') as hour, validations::int, rejected::int,
       activations::int, deactivations::int
     from usage.hourly where tenant_id = $1 order by 1, 2`,
    [tenantId],
  )
  return rows as unknown[]
}

const none = { validations: 0, rejected: 0, activations: 0, deactivations: 0 }

test('counts are summed by product and UTC hour, and added to the stored ones', async () => {
  ledger.clock.set('2026-03-01T12:59:59.999Z')
  for (let n = 0; n < 3; n++) counter.count(tenantId, 'editor', 'validations')
  counter.count(tenantId, 'editor', 'rejected')
  counter.count(tenantId, 'player', 'activations')
  await counter.flush()
  ledger.clock.set('2026-03-01T13:00:00.000Z')
  counter.count(tenantId, 'editor', 'deactivations')
  ledger.clock.set('2026-03-01T12:30:00.000Z')
  counter.count(tenantId, 'editor', 'validations')
  await counter.flush()
  expect(await written()).toStrictEqual([
    { product_id: 'editor', hour: '12:00:00', ...none, validations: 4, rejected: 1 },
    { product_id: 'editor', hour: '13:00:00', ...none, deactivations: 1 },
    { product_id: 'player', hour: '12:00:00', ...none, activations: 1 },
  ])
})

test('concurrent and empty flushes write each count once', async () => {
  counter.count(tenantId, 'editor', 'validations')
  await Promise.all([counter.flush(), counter.flush(), counter.flush()])
  await counter.flush()
  expect(await written()).toMatchObject([{ validations: 1 }])
})

test('counts that could not be written are written with later ones', async () => {
  counter.count(tenantId, 'editor', 'validations')
  await ledger.db.query('alter table usage.hourly rename to gone')
  const flushing = counter.flush()
  counter.count(tenantId, 'editor', 'validations')
  await flushing
  expect(failures).toHaveLength(1)
  await ledger.db.query('alter table usage.gone rename to hourly')
  await counter.flush()
  await counter.flush()
  expect(failures).toHaveLength(1)
  expect(await written()).toMatchObject([{ validations: 2 }])
})

test('counts are added once when the response to their write is lost and they are sent again', async () => {
  let lost = 0
  const query = async (statement: string, values?: unknown[]) => {
    const answer = await ledger.db.query(statement, values)
    if (lost++ < 2) throw new Error('the connection ended before the answer came')
    return answer
  }
  const losing = createUsageCounter(
    Object.assign(Object.create(ledger.db) as typeof ledger.db, { query }) as typeof ledger.db,
    ledger.clock.now,
    (error) => failures.push(error),
    3_600_000,
  )
  losing.count(tenantId, 'editor', 'validations')
  await losing.flush()
  losing.count(tenantId, 'editor', 'validations')
  await losing.flush()
  expect(failures).toHaveLength(2)
  expect(await written()).toMatchObject([{ validations: 1 }])
  await losing.stop()
  expect(await written()).toMatchObject([{ validations: 2 }])
})

test('stopping writes the remaining counts', async () => {
  counter.count(tenantId, 'editor', 'rejected')
  await counter.stop()
  expect(await written()).toMatchObject([{ rejected: 1 }])
  expect((await ledger.db.query('select from usage.writers')).rows).toStrictEqual([])
})

test('what is counted is sent to Postgres within 50 ms, and nothing is when nothing was counted', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sent: unknown[] = []
  const query = async ({ values }: { values: unknown[] }) => void sent.push(values[0])
  const db = { query } as unknown as typeof ledger.db
  const own = createUsageCounter(db, ledger.clock.now, (error) => failures.push(error))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(sent).toStrictEqual([])
  own.count(tenantId, 'editor', 'validations')
  await vi.advanceTimersByTimeAsync(50)
  expect(sent).toHaveLength(1)
})

test('after a failed write, what was counted meanwhile follows by itself', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sent: unknown[] = []
  const query = async ({ values }: { values: unknown[] }) => {
    if (failures.length === 0) throw new Error('Postgres does not answer')
    sent.push(values[0])
  }
  const db = { query } as unknown as typeof ledger.db
  const own = createUsageCounter(db, ledger.clock.now, (error) => failures.push(error))
  own.count(tenantId, 'editor', 'validations')
  await vi.advanceTimersByTimeAsync(50)
  expect(failures).toHaveLength(1)
  own.count(tenantId, 'player', 'validations')
  await vi.advanceTimersByTimeAsync(1000)
  expect(sent).toStrictEqual([expect.stringContaining('editor')])
  await vi.advanceTimersByTimeAsync(50)
  expect(sent).toStrictEqual([expect.stringContaining('editor'), expect.stringContaining('player')])
})

test('several processes add to the same hour', async () => {
  const other = createUsageCounter(ledger.db, ledger.clock.now, (error) => failures.push(error), 3_600_000)
  for (let n = 0; n < 50; n++) {
    counter.count(tenantId, 'editor', 'validations')
    other.count(tenantId, 'editor', 'validations')
    await Promise.all([counter.flush(), other.flush()])
  }
  await other.stop()
  expect(failures).toStrictEqual([])
  expect(await written()).toMatchObject([{ validations: 100 }])
})
