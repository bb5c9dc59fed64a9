/**
 * Guarantee: a 503 says that it is safe to retry only where a repetition cannot do the work twice. Otherwise it says to look it
 * up first.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { TimeoutError } from '../../src/async/timeout.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import type { AllPorts } from '../../src/ports.ts'
import {
  type Ask,
  askOf,
  createTestApp,
  type Method,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../harness/api.ts'
import { uniqueId } from '../harness/ledger.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
let license: string
/** The trouble of every command, after it was recorded. */
let failure: Error
let ask: Ask
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  const { ports } = api.ledger
  const execute: AllPorts['execute'] = async (...args) => {
    await ports.execute(...args)
    throw failure
  }
  const app = await createTestApp(api.ledger, { ...ports, execute })
  closing.push(() => app.close())
  ask = askOf(app)
})
beforeEach(async () => {
  license = (await mint(api.ask, tenant.token, 'editor')).id
})
afterAll(async () => {
  for (const close of closing) await close()
  await api.close()
})

const safe = 'it is safe to retry'
const unsure = 'it may have been done: look it up before you repeat it'
const withKey = ', and send an Idempotency-Key, with which a repetition does nothing twice'

const answerTo = async (method: Method, path: string, body: object | undefined, key?: string) => {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const { status, body: answer } = await ask(method, path, { token: tenant.token, body, headers })
  return { status, error: z.object({ error: z.string() }).parse(answer).error }
}

test.each([
  [new LedgerUnavailable('no answer'), 'the ledger does not respond'],
  [new ReadModelsBehind(1n, undefined), 'recorded, but not yet visible everywhere'],
  [new TimeoutError(1), 'a store does not respond'],
])('%s after a mint: a retry without an Idempotency-Key would mint twice', async (error, what) => {
  failure = error
  const body = { productId: 'editor' }
  expect(await answerTo('POST', '/v1/licenses', body)).toStrictEqual({
    status: 503,
    error: `${what}; ${unsure}${withKey}`,
  })
  expect(await answerTo('POST', '/v1/licenses', body, uniqueId('key'))).toStrictEqual({
    status: 503,
    error: `${what}; ${safe} with the same Idempotency-Key`,
  })
})

test('changes that name the state that they lead to, and gated calls, are safe to retry', async () => {
  failure = new LedgerUnavailable('no answer')
  const safely = { status: 503, error: `the ledger does not respond; ${safe}` }
  expect(await answerTo('PATCH', `/v1/licenses/${license}`, { quantity: 1, deviceLimit: 9 })).toStrictEqual(
    safely,
  )
  expect(await answerTo('PUT', '/v1/portal', { enabled: true })).toStrictEqual(safely)
  expect(await answerTo('POST', `/v1/licenses/${license}/revoke`, undefined)).toStrictEqual(safely)
  const token = await tenant.tokenWith('usage:read')
  const { status, body } = await ask('POST', '/v1/logout', { token })
  expect({ status, error: z.object({ error: z.string() }).parse(body).error }).toStrictEqual(safely)
})

test('a remint is not, and a request that timed out says the same', async () => {
  failure = new LedgerUnavailable('no answer')
  expect((await answerTo('POST', `/v1/licenses/${license}/remint`, {})).error).toBe(
    `the ledger does not respond; ${unsure}${withKey}`,
  )
  const hanging = Promise.withResolvers<never>()
  // On a busy machine the time limit passes before anything waits for it.
  hanging.promise.catch(() => undefined)
  const app = await createTestApp(
    api.ledger,
    { ...api.ledger.ports, execute: () => hanging.promise },
    { requestLimitMs: 50 },
  )
  closing.push(() => app.close())
  const late = await askOf(app)('POST', '/v1/licenses', {
    token: tenant.token,
    body: { productId: 'editor' },
  })
  expect(late).toMatchObject({
    status: 503,
    body: { error: `the request timed out and may still complete; ${unsure}${withKey}` },
  })
  hanging.reject(new Error('ended'))
})
