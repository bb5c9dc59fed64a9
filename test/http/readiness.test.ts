/** Guarantee: parked streams do not affect readiness, because all other tenants are still served. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReadiness } from '../../src/app/readiness.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

test('a process with thousands of parked streams is ready, and counts them up to a limit', async () => {
  await api.ledger.db.query(
    `insert into parked (stream, revision, position, type, problem)
     select 'sale-a.gumroad.' || n, 0, n, 'SaleReceived', 'cannot be applied' from generate_series(1, 3000) n`,
  )
  const { status, body } = await api.ask('GET', '/readyz')
  expect({ status, body }).toMatchObject({ status: 200, body: { ready: true, projection: { parked: 1000 } } })
  await api.ledger.db.query('delete from parked')
})

test('a process is not ready when the log does not respond', async () => {
  const { ports } = api.ledger
  const gone = () => Promise.reject(new Error('gone'))
  const { parts } = await createReadiness({ ...ports, ledger: { ...ports.ledger, head: gone } }, undefined)()
  expect(parts).toMatchObject({
    event_store: { ok: false, required: true },
    read_models: { ok: false, required: true },
  })
})
