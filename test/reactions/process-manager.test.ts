/**
 * Everything due is advanced even if other items fail; a failing item is retried later, and an outage backs
 * off no item.
 */
import { beforeEach, expect, test } from 'vitest'
import { type PollLimits, type ProcessManager, processOf } from '../../src/reactions/process-manager.ts'

let due: string[]
let wanted: PollLimits[]
let advanced: string[]
let failures: string[]
let failing: Set<string>
let storesAreDown: boolean
let postgresIsDown: boolean
let nowMs: number

beforeEach(() => {
  due = []
  wanted = []
  advanced = []
  failures = []
  failing = new Set()
  storesAreDown = false
  postgresIsDown = false
  nowMs = 0
})

const ports = {
  ledger: {
    async head() {
      if (storesAreDown) throw new Error('the stores are down')
    },
  },
  db: {
    async query() {
      if (postgresIsDown) throw new Error('Postgres is down')
    },
  },
  now: () => new Date(nowMs),
}

const manager = (more: Partial<ProcessManager<string>> = {}) =>
  processOf<string>(ports, ({ id }) => failures.push(id), {
    name: 'test.process',
    everyMs: 1000,
    async due(asked) {
      wanted.push(asked)
      return due.filter((id) => !asked.except.includes(id)).slice(0, asked.most)
    },
    idOf: (id) => id,
    async advance(id) {
      if (failing.has(id)) throw new Error(`${id} cannot be advanced`)
      advanced.push(id)
      due = due.filter((one) => one !== id)
    },
    ...more,
  })

test('a failing item does not delay others, and is skipped until its pause is over', async () => {
  due = ['a', 'bad', 'b']
  failing.add('bad')
  const { poll } = manager()
  await poll()
  expect({ advanced, failures }).toStrictEqual({ advanced: ['a', 'b'], failures: ['bad'] })
  await poll()
  expect(wanted.map(({ except }) => except)).toStrictEqual([[], ['bad']])
  nowMs += 2000
  failing.clear()
  await poll()
  expect({ advanced, failures }).toStrictEqual({ advanced: ['a', 'b', 'bad'], failures: ['bad'] })
})

test('pauses grow to a minute', async () => {
  due = ['bad']
  failing.add('bad')
  const { poll } = manager()
  const pauses: number[] = []
  for (let n = 0; n < 8; n++) {
    await poll()
    const failed = failures.length
    const since = nowMs
    while (failures.length === failed) {
      nowMs += 1000
      await poll()
    }
    pauses.push(nowMs - since)
  }
  expect(pauses).toStrictEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

test('while the stores are down the poll fails as a whole, and nothing counts as failed', async () => {
  due = ['a', 'b']
  failing.add('a')
  storesAreDown = true
  const { poll } = manager()
  await expect(poll()).rejects.toThrow('the stores are down')
  expect({ advanced, failures }).toStrictEqual({ advanced: [], failures: [] })
  storesAreDown = false
  failing.clear()
  await poll()
  expect(advanced).toStrictEqual(['a', 'b'])
})

test('while Postgres alone is down the poll fails as a whole, and nothing counts as failed', async () => {
  due = ['a', 'b']
  failing.add('a')
  postgresIsDown = true
  const { poll } = manager()
  await expect(poll()).rejects.toThrow('Postgres is down')
  expect({ advanced, failures }).toStrictEqual({ advanced: [], failures: [] })
})

test('a poll advances no more than its limit, and is repeated at once while there is more', async () => {
  due = ['a', 'b', 'c']
  const { poll, dueInMs } = manager({ most: 2 })
  await poll()
  expect({ advanced, dueInMs: dueInMs?.() }).toStrictEqual({ advanced: ['a', 'b'], dueInMs: 0 })
  await poll()
  expect({ advanced, dueInMs: dueInMs?.() }).toStrictEqual({ advanced: ['a', 'b', 'c'], dueInMs: undefined })
})

test('a full poll whose items stay due makes room for the items behind them', async () => {
  const parked = new Set(['a', 'b'])
  due = ['a', 'b', 'c', 'd']
  const { poll, dueInMs } = manager({
    most: 2,
    async advance(id) {
      advanced.push(id)
      if (!parked.has(id)) due = due.filter((one) => one !== id)
    },
  })
  for (let n = 0; n < 4; n++) await poll()
  expect({ advanced, failures }).toStrictEqual({ advanced: ['a', 'b', 'a', 'b', 'c', 'd'], failures: [] })
  expect(dueInMs?.()).toBeUndefined()
  nowMs += 2000
  await poll()
  expect(advanced.slice(6)).toStrictEqual(['a', 'b'])
})

test('no more items are advanced concurrently than there are lanes', async () => {
  due = Array.from({ length: 20 }, (_, n) => String(n))
  let running = 0
  let most = 0
  const { poll } = manager({
    lanes: 4,
    async advance() {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
    },
  })
  await poll()
  expect(most).toBe(4)
})

test('the wrapper of a poll sees all that it advances', async () => {
  due = ['a', 'b']
  const seen: string[] = []
  const { poll } = manager({
    async around(work) {
      seen.push('begin')
      await work(async (id) => void seen.push(id))
      seen.push('end')
    },
  })
  await poll()
  expect(seen).toStrictEqual(['begin', 'a', 'b', 'end'])
})

test('when a thousand fail, the process stops until an operator intervenes', async () => {
  due = Array.from({ length: 1000 }, (_, n) => String(n))
  failing = new Set(due)
  const { poll } = manager({ most: 1000, lanes: 50, stopAtFailing: 1000 })
  await poll()
  await expect(poll()).rejects.toThrow('test.process: 1000 cannot be advanced')
})
