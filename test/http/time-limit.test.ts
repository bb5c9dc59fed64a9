/**
 * Guarantee: no request waits long for a store that does not respond: it gets 503, and its work continues in the
 * background.
 */
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
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

/** Services that wait, one before the license has its id and one after it. */
const late = {
  'the product is read': ({ findProduct }: AllPorts, until: Promise<void>) => ({
    findProduct: async (...args: Parameters<typeof findProduct>) => {
      await until
      return findProduct(...args)
    },
  }),
  'the license is recorded': ({ execute }: AllPorts, until: Promise<void>) => ({
    execute: (async (...args) => {
      await until
      return execute(...args)
    }) satisfies AllPorts['execute'],
  }),
}

test.each(Object.entries(late))(
  'a request over the time limit when %s gets 503, and its work is done once in the background',
  async (_, waiting) => {
    const { ports } = api.ledger
    const gate = Promise.withResolvers<void>()
    const before = await licenses()
    const app = await createTestApp(
      api.ledger,
      { ...ports, ...waiting(ports, gate.promise) },
      { requestLimitMs: 100 },
    )
    const headers = { 'idempotency-key': uniqueId('key') }
    const mint = (ask: typeof api.ask) =>
      ask('POST', '/v1/licenses', { token: tenant.token, body: { productId: 'editor' }, headers })
    expect(await mint(askOf(app))).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })

    gate.resolve()
    // 409 as long as the first request may be running.
    await expect.poll(async () => (await mint(api.ask)).status).toBe(201)
    const again = await mint(api.ask)
    // Waits for the work in the background.
    await app.close()
    const now = [Minted.parse(again.body).license.id, ...before]
    expect((await licenses()).toSorted()).toStrictEqual(now.toSorted())
  },
)

const Minted = z.object({ license: z.object({ id: z.string() }) })

async function licenses(): Promise<string[]> {
  const { body } = await api.ask('GET', '/v1/licenses', { token: tenant.token })
  return z
    .object({ items: z.array(z.object({ id: z.string() })) })
    .parse(body)
    .items.map(({ id }) => id)
}

test('a request over the time limit gets 503 over a connection too, after its body was read', async () => {
  const { ports } = api.ledger
  const gate = Promise.withResolvers<void>()
  const execute: AllPorts['execute'] = async (...args) => {
    await gate.promise
    return ports.execute(...args)
  }
  const app = await createTestApp(api.ledger, { ...ports, execute }, { requestLimitMs: 100 })
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

test.each([
  { end: 'fails', settle: () => Promise.reject(new LedgerUnavailable('no answer')), late: 1 },
  { end: 'succeeds', settle: () => Promise.resolve(), late: 0 },
])('what $end in the background is logged once, as what it is', async ({ settle, late }) => {
  const lines: string[] = []
  const log = pino(
    { level: 'info' },
    { write: (line) => void lines.push(z.object({ msg: z.string() }).parse(JSON.parse(line)).msg) },
  )
  const gate = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const { ports } = api.ledger
  const execute: AllPorts['execute'] = async (...args) => {
    try {
      await gate.promise
      await settle()
      return await ports.execute(...args)
    } finally {
      setImmediate(done.resolve)
    }
  }
  // Long enough for the handler to begin: a request that is late before that is not run.
  const app = await createTestApp(api.ledger, { ...ports, execute }, { requestLimitMs: 1500, log })
  const body = { productId: 'editor' }
  expect(await askOf(app)('POST', '/v1/licenses', { token: tenant.token, body })).toMatchObject({
    status: 503,
  })
  gate.resolve()
  await done.promise
  await app.close()
  await new Promise((resolve) => setTimeout(resolve, 200))
  const expected = ['request.failed', 'request.answered', ...(late === 1 ? ['request.failed_late'] : [])]
  expect(lines).toStrictEqual(expected)
})
