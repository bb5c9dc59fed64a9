// Tests the messages between a worker and its parent, without processes.
import { Counter, Gauge, Registry } from 'prom-client'
import { expect, test, vi } from 'vitest'
import type { ReadModels } from '../../projections/runner/read-models.ts'
import { delegateAdvancing } from '../../src/app/workers/advancing.ts'
import { createMeasurements } from '../../src/app/workers/measured.ts'
import { Measured } from '../../src/app/workers/messages.ts'
import { connectionsOfWorker } from '../../src/app/workers/sizes.ts'
import { restartDelayMs, youngDeathsAfter } from '../../src/app/workers/worker-process.ts'

const nothing = { head: async () => undefined }

function ownReadModels() {
  const advanceTo = vi.fn<ReadModels['advanceTo']>(async () => undefined)
  const own: ReadModels = { advanceTo, catchUp: async () => undefined, checkpoint: async () => -1n }
  return { own, advanceTo }
}

test('a worker requests a position from its parent once, and all calls up to that position continue', async () => {
  const { own, advanceTo } = ownReadModels()
  const asked: bigint[] = []
  const readModels = delegateAdvancing(own, nothing, (position) => asked.push(position))
  const waiting = [readModels.advanceTo(5n), readModels.advanceTo(5n), readModels.advanceTo(4n)]
  expect(asked).toStrictEqual([5n])
  readModels.onAdvanced(5n)
  await Promise.all(waiting)
  await readModels.advanceTo(3n)
  expect(asked).toStrictEqual([5n])
  expect(advanceTo).not.toHaveBeenCalled()
})

test('no call continues before the read models have reached its position', async () => {
  const { own } = ownReadModels()
  const readModels = delegateAdvancing(own, nothing, () => undefined)
  let isThere = false
  const waiting = readModels.advanceTo(7n).then(() => {
    isThere = true
  })
  readModels.onAdvanced(6n)
  await Promise.resolve()
  expect(isThere).toBe(false)
  readModels.onAdvanced(7n)
  await waiting
})

test('a worker whose parent does not respond advances the read models itself, and reports errors', async () => {
  vi.useFakeTimers()
  try {
    const { own, advanceTo } = ownReadModels()
    const readModels = delegateAdvancing(own, nothing, () => undefined)
    const done = readModels.advanceTo(5n)
    await vi.advanceTimersByTimeAsync(1000)
    await done
    expect(advanceTo).toHaveBeenCalledExactlyOnceWith(5n)
    advanceTo.mockRejectedValueOnce(new Error('behind'))
    const failed = expect(readModels.advanceTo(6n)).rejects.toThrow('behind')
    await vi.advanceTimersByTimeAsync(1000)
    await failed
  } finally {
    vi.useRealTimers()
  }
})

/** The metrics of a process that has answered this many requests. */
async function measuredOf(requests: number): Promise<Measured> {
  const registry = new Registry()
  new Counter({ name: 'requests_total', help: 'r', registers: [registry] }).inc(requests)
  new Gauge({ name: 'memory_bytes', help: 'm', registers: [registry] }).set(100)
  const started = { name: 'process_start_time_seconds', help: 's', aggregator: 'omit' as const }
  new Gauge({ ...started, registers: [registry] }).set(1000 + requests)
  // JSON, as between processes.
  return Measured.parse(JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())))
}

test('counters of all processes are summed and never fall, while gauges are those of running processes', async () => {
  const living = new Map([
    [1, 5],
    [2, 7],
  ])
  const measurements = createMeasurements(
    new Registry(),
    () => [...living.keys()],
    (worker, id) =>
      void measuredOf(living.get(worker) ?? 0).then((metrics) =>
        measurements.onMeasured(worker, id, metrics),
      ),
  )
  const lines = async () =>
    (await measurements.read()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(await lines()).toStrictEqual([
    'requests_total 12',
    'memory_bytes 200',
    'process_start_time_seconds 1005',
  ])
  living.delete(1)
  measurements.onEnded(1)
  living.set(3, 2)
  expect(await lines()).toStrictEqual([
    'requests_total 14',
    'memory_bytes 200',
    'process_start_time_seconds 1002',
  ])
})

test('a measure of this process without a value yet is 0', async () => {
  const own = new Registry()
  new Gauge({ name: 'lag_seconds', help: 'l', registers: [own] }).set(Number.NaN)
  const text = await createMeasurements(
    own,
    () => [],
    () => undefined,
  ).read()
  expect(text).toContain('lag_seconds 0')
})

test('a worker that dies during a measurement does not delay it', async () => {
  const measurements = createMeasurements(
    new Registry(),
    () => [1],
    (worker) => measurements.onEnded(worker),
  )
  expect((await measurements.read()).trim()).toBe('')
})

test('workers that die early are restarted after growing delays, and one that ran for a while at once', () => {
  expect([0, 1, 2, 3, 8, 9, 1000].map(restartDelayMs)).toStrictEqual([0, 0, 100, 200, 6400, 10_000, 10_000])
  expect(youngDeathsAfter(3, 9999)).toBe(4)
  expect(youngDeathsAfter(3, 10_000)).toBe(0)
})

test('eight workers and their parent stay below the connections that Postgres allows by default', () => {
  for (const workers of [2, 3, 4, 5, 6, 7, 8]) {
    const { db, hotDb, projectionDb, locksDb } = connectionsOfWorker(workers)
    expect(18 + workers * (db + hotDb + projectionDb + locksDb)).toBeLessThan(97)
  }
})
