/**
 * Guarantee: no request waits long for a store that does not respond: it gets 503, and its work continues in the
 * background.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AllPorts } from '../../src/ports.ts'
import {
  askOf,
  createTestApp,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../harness/api.ts'
import { uniqueId } from '../harness/ledger.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

test('a request over the time limit gets 503, and its work is done once in the background', async () => {
  const { services } = api.ledger
  const gate = Promise.withResolvers<void>()
  const execute: AllPorts['execute'] = async (...args) => {
    await gate.promise
    return services.execute(...args)
  }
  const app = await createTestApp(api.ledger, { ...services, execute }, { requestLimitMs: 100 })
  const headers = { 'idempotency-key': uniqueId('key') }
  const mint = (ask: typeof api.ask) =>
    ask('POST', '/v1/licenses', { token: tenant.token, body: { productId: 'editor' }, headers })
  const late = await mint(askOf(app))
  expect(late).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })

  gate.resolve()
  // 409 as long as the first request may be running.
  await expect.poll(async () => (await mint(api.ask)).status).toBe(201)
  const again = await mint(api.ask)
  const { body } = await api.ask('GET', '/v1/licenses', { token: tenant.token })
  expect(body).toMatchObject({ items: [{ id: (again.body as { license: { id: string } }).license.id }] })
  await app.close()
})

test('a request over the time limit gets 503 over a connection too, after its body was read', async () => {
  const { services } = api.ledger
  const gate = Promise.withResolvers<void>()
  const execute: AllPorts['execute'] = async (...args) => {
    await gate.promise
    return services.execute(...args)
  }
  const app = await createTestApp(api.ledger, { ...services, execute }, { requestLimitMs: 100 })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const answer = await fetch(`${address}/v1/licenses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ productId: 'editor' }),
  })
  expect([answer.status, answer.headers.get('retry-after')]).toStrictEqual([503, '1'])
  gate.resolve()
  await app.close()
})
