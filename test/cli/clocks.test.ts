/**
 * Guarantee: a difference between the clocks of the stores and this machine is a warning from 5 s on, and an error
 * above a minute.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clocksOf, createClocks } from '../../src/app/clocks.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'

let ledger: TestLedger
let aheadMs = 0
/** The HTTP response of an event store. */
const store = createServer((_, answer) => {
  answer.setHeader('date', new Date(Date.now() + aheadMs).toUTCString()).end('{}')
})
beforeAll(async () => {
  ledger = await openTestLedger()
  await once(store.listen(0, '127.0.0.1'), 'listening')
})
afterAll(async () => {
  store.close()
  await ledger.close()
})

const address = () => `esdb://127.0.0.1:${(store.address() as AddressInfo).port}?tls=false`
const healthWith = (ms: number) => {
  aheadMs = ms
  return clocksOf(address(), ledger.db).health()
}

test('clocks that agree are healthy without a detail', async () => {
  expect(await healthWith(0)).toStrictEqual({ ok: true, required: false })
})

test.each([20_000, -20_000])('a difference of %i ms is a warning that names the store', async (ms) => {
  const { ok, required, detail } = await healthWith(ms)
  expect({ ok, required }).toStrictEqual({ ok: true, required: false })
  expect(detail).toMatch(ms > 0 ? /s behind the event store$/ : /s ahead of the event store$/)
})

test.each([120_000, -120_000])(
  'a difference of %i ms is an error, which does not affect readiness',
  async (ms) => {
    expect(await healthWith(ms)).toMatchObject({ ok: false, required: false })
  },
)

test('a store without a clock is omitted, and the result is cached', async () => {
  const embedded = await clocksOf(ledger.eventStoreUrl, ledger.db).read()
  expect(embedded.map(({ name }) => name)).toStrictEqual(['Postgres'])
  let asked = 0
  const clocks = createClocks([
    async () => {
      asked += 1
      throw new Error('does not respond')
    },
  ])
  expect(await clocks.health()).toStrictEqual({ ok: true, required: false })
  await clocks.health()
  expect(asked).toBe(1)
})
