/**
 * Guarantee: an Idempotency-Key identifies one request: which responses are stored, for how long, and which keys are
 * rejected.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { reinstateTenant, suspendTenant } from '../../src/commands/tenants.ts'
import { approve } from '../../src/gate/approvals.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import {
  type Answer,
  type Ask,
  askOf,
  createTestApp,
  makeTenant,
  openTestApi,
  type TestApi,
  type TestTenant,
} from '../harness/api.ts'
import { approver, pendingId } from '../harness/gate.ts'
import { beginning, origin } from '../harness/ledger.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro', deviceLimit: 2 }] })
})
afterAll(() => api.close())

let keys = 0
const newKey = () => `key-${++keys}`

type Request = { url: string; body?: unknown }

function send({ url, body }: Request, key: string, ask: Ask = api.ask, token = tenant.token) {
  return ask('POST', url, { token, body, headers: { 'idempotency-key': key } })
}

const isReplay = ({ headers }: Answer) => headers['idempotent-replay']
/** The response without its request's own headers. */
const whole = ({ status, text, headers }: Answer) => ({ status, text, type: headers['content-type'] })

const LicenseKey = z.looseObject({ licenseKey: z.string() })
const minted = () => mint(api.ask, tenant.token, 'editor')
const onDevice = (license_key: string, device_id = 'laptop') => ({
  product_id: 'editor',
  license_key,
  device_id,
})
const seated = async () => {
  const license = await minted()
  await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body: onDevice(license.licenseKey) })
  return license
}

describe('an error response', () => {
  test('of a rule is stored and replayed, even when the rule no longer applies', async () => {
    const own = await makeTenant(api.ledger)
    const request = { url: '/v1/licenses', body: { productId: 'later' } }
    const key = newKey()
    const first = await send(request, key, api.ask, own.token)
    expect(first).toMatchObject({ status: 404, body: { error: 'product not found' } })
    await makeProduct(api.ask, own.token, 'later')
    const again = await send(request, key, api.ask, own.token)
    expect(whole(again)).toStrictEqual(whole(first))
    expect(isReplay(again)).toBe('true')
    expect((await send(request, newKey(), api.ask, own.token)).status).toBe(201)
  })

  test('of a malformed request is not stored', async () => {
    const key = newKey()
    expect((await send({ url: '/v1/licenses', body: { productId: 7 } }, key)).status).toBe(400)
    expect((await send({ url: '/v1/licenses', body: { productId: 'editor' } }, key)).status).toBe(201)
  })

  test('about the token or the tenant is not stored and takes precedence', async () => {
    const own = await makeTenant(api.ledger)
    await makeProduct(api.ask, own.token, 'editor')
    const request = { url: '/v1/licenses', body: { productId: 'editor' } }
    const key = newKey()
    await suspendTenant(api.ledger.ports, own.tenantId, null, origin)
    expect((await send(request, key, api.ask, own.token)).status).toBe(403)
    await reinstateTenant(api.ledger.ports, own.tenantId, origin)
    const first = await send(request, key, api.ask, own.token)
    expect(first.status).toBe(201)
    await suspendTenant(api.ledger.ports, own.tenantId, null, origin)
    expect((await send(request, key, api.ask, own.token)).status).toBe(403)
    await reinstateTenant(api.ledger.ports, own.tenantId, origin)
    expect(whole(await send(request, key, api.ask, own.token))).toStrictEqual(whole(first))
    expect((await send(request, 'not a key', api.ask, 'kl_pat_none')).status).toBe(401)
    const reader = await own.tokenWith('licenses:read')
    expect((await send(request, 'not a key', api.ask, reader)).status).toBe(403)
  })
})

describe('a different request with the same key', () => {
  const mismatch = 'this Idempotency-Key was used for a different request; use a new key for each request'

  test('returns 422 on the management interface', async () => {
    const key = newKey()
    await send({ url: '/v1/licenses', body: { productId: 'editor' } }, key)
    const other = { url: '/v1/licenses', body: { productId: 'editor', quantity: 1 } }
    expect(await send(other, key)).toMatchObject({ status: 422, body: { error: mismatch } })
    const body = { quantity: 1, productId: 'editor' }
    const otherKey = newKey()
    const first = await send({ url: '/v1/licenses', body }, otherKey)
    const raw = '{"productId" : "editor",\n "quantity": 1.0}'
    const again = await api.ask('POST', '/v1/licenses', {
      token: tenant.token,
      raw,
      headers: { 'idempotency-key': otherKey },
    })
    expect(whole(again)).toStrictEqual(whole(first))
  })

  test('returns 422 with a code on the runtime interface', async () => {
    const { licenseKey } = await minted()
    const key = newKey()
    await send({ url: '/v1/licenses/activate', body: onDevice(licenseKey, 'one') }, key)
    const other = await send({ url: '/v1/licenses/activate', body: onDevice(licenseKey, 'two') }, key)
    expect(other).toMatchObject({
      status: 422,
      body: { error: { code: 'idempotency_mismatch', message: mismatch } },
    })
    // Fields that the runtime interface ignores are still part of the request.
    const more = { ...onDevice(licenseKey, 'one'), sdk: '1.0' }
    expect((await send({ url: '/v1/licenses/activate', body: more }, key)).status).toBe(422)
  })

  test('returns 422 when it is for another license', async () => {
    const [one, other] = [await minted(), await minted()]
    const key = newKey()
    expect((await send({ url: `/v1/licenses/${one.id}/remint` }, key)).status).toBe(200)
    expect(await send({ url: `/v1/licenses/${other.id}/remint` }, key)).toMatchObject({ status: 422 })
  })

  test('runs on its own when the operation or the token differs', async () => {
    const key = newKey()
    const { licenseKey } = await minted()
    const body = onDevice(licenseKey)
    expect((await send({ url: '/v1/licenses/activate', body }, key)).body).toMatchObject({ activated: true })
    expect((await send({ url: '/v1/licenses/deactivate', body }, key)).body).toStrictEqual({
      deactivated: true,
    })
    const token = await tenant.tokenWith('licenses:runtime')
    const answer = await send({ url: '/v1/licenses/activate', body }, key, api.ask, token)
    expect(isReplay(answer)).toBeUndefined()
    expect(answer.body).toMatchObject({ activated: true })
  })
})

test("a repeat during the first request returns 409 in the interface's error format", async () => {
  const { licenseKey } = await minted()
  const waiting = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  let arrivals = 0
  const { ports } = api.ledger
  const slow = await createTestApp(api.ledger, {
    ...ports,
    execute: async (...args) => {
      if (++arrivals === 2) arrived.resolve()
      await waiting.promise
      return ports.execute(...args)
    },
  })
  const message = 'the first request with this Idempotency-Key is still running; retry in a second'
  const cases: [Request, unknown][] = [
    [
      { url: '/v1/licenses/activate', body: onDevice(licenseKey) },
      { code: 'idempotency_in_progress', message },
    ],
    [{ url: '/v1/licenses', body: { productId: 'editor' } }, message],
  ]
  const key = newKey()
  const running = cases.map(([request]) => send(request, key, askOf(slow)))
  await arrived.promise
  for (const [request, error] of cases) {
    const answer = await send(request, key)
    expect(answer).toMatchObject({ status: 409, body: { error } })
    expect(answer.headers['retry-after']).toBe('1')
  }
  waiting.resolve()
  const firsts = await Promise.all(running)
  for (const [index, [request]] of cases.entries()) {
    const answer = await send(request, key)
    expect(whole(answer)).toStrictEqual(whole(firsts[index] ?? answer))
    expect(isReplay(answer)).toBe('true')
  }
  await slow.close()
})

test('a retry returns the customer that was recorded before the first request failed', async () => {
  const { ports } = api.ledger
  const broken = await createTestApp(api.ledger, {
    ...ports,
    execute: async (...args) => {
      await ports.execute(...args)
      throw new LedgerUnavailable('the connection broke off')
    },
  })
  const fresh = await makeTenant(api.ledger)
  const key = newKey()
  const request = { url: '/v1/customers', body: { email: 'ada@example.com', name: 'Ada' } }
  expect((await send(request, key, askOf(broken), fresh.token)).status).toBe(503)
  const retried = await send(request, key, api.ask, fresh.token)
  expect(retried.status).toBe(201)
  const listed = await api.ask('GET', '/v1/customers', { token: fresh.token })
  expect(listed.body).toStrictEqual({
    items: [(retried.body as { customer: unknown }).customer],
    nextCursor: null,
  })
  await broken.close()
})

test.each(['', ' ', 'a b', 'x'.repeat(256), 'é', 'a\tb'])('the key %j returns 400', async (key) => {
  const body = { productId: 'editor' }
  const error = 'the header Idempotency-Key must be 1 to 255 visible ASCII characters, sent once'
  expect(await send({ url: '/v1/licenses', body }, key)).toMatchObject({ status: 400, body: { error } })
  expect(await send({ url: '/v1/licenses/activate', body: onDevice('A') }, key)).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_request', message: error } },
  })
})

test('a body without a canonical form returns 400', async () => {
  const raw = '{"product_id":"editor","license_key":"A","device_id":"d","x":"\\ud800"}'
  const headers = { 'idempotency-key': newKey() }
  const answer = await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, raw, headers })
  expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
  // Without the header, nothing is compared.
  expect(await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, raw })).toMatchObject({
    status: 200,
  })
})

test('validate ignores the header and returns the current state', async () => {
  const { id, licenseKey } = await seated()
  const request = { url: '/v1/licenses/validate', body: onDevice(licenseKey) }
  const key = newKey()
  expect((await send(request, key)).body).toMatchObject({ valid: true })
  await api.ask('POST', `/v1/licenses/${id}/remint`, { token: tenant.token })
  const again = await send(request, key)
  expect(again.body).toMatchObject({ valid: false, status: 'reminted' })
  expect(isReplay(again)).toBeUndefined()
})

describe('a gated request', () => {
  const reserved = async () => {
    const { rows } = await api.ledger.db.query<{ count: bigint }>('select count(*) from vault.idempotency')
    return rows[0]?.count
  }

  test.each([
    ['a secret that is shown once', '/v1/sdk-key/rotate', {}],
    ['a URL that is shown once', '/v1/integrations/gumroad/rotate-secret', {}],
  ])('ignores the header, so that no response is stored: %s', async (_, url, body) => {
    const own = await makeTenant(api.ledger)
    if (url.includes('gumroad')) {
      await api.ask('POST', '/v1/integrations/gumroad/connect', { token: own.token })
    }
    const key = newKey()
    const call = (confirmation?: string) =>
      api.ask('POST', url, {
        token: own.token,
        body,
        headers: { 'idempotency-key': key, ...(confirmation && { 'x-service-confirmation': confirmation }) },
      })
    const before = await reserved()
    const first = pendingId(await call())
    await approve(api.ledger.ports, own.tenantId, first, approver)
    const executed = await call(first)
    expect(executed.status).toBe(200)
    const secret = Object.values(z.record(z.string(), z.unknown()).parse(executed.body)).map(String)
    // The same key with and without the confirmation: a new request, and a used confirmation.
    const [asked, again] = [await call(), await call(first)]
    expect([asked.status, again.status]).toStrictEqual([202, 403])
    for (const answer of [asked, again]) {
      expect(isReplay(answer)).toBeUndefined()
      for (const shown of secret) expect(answer.text).not.toContain(shown)
    }
    expect(await reserved()).toBe(before)
  })

  test('ignores an invalid key and a key that was used for a different request', async () => {
    const { id } = await minted()
    const call = (key: string, reason: string) =>
      api.ask('POST', `/v1/licenses/${id}/revoke`, {
        token: tenant.token,
        body: { reason },
        headers: { 'idempotency-key': key },
      })
    expect((await call('no key', 'one')).status).toBe(202)
    expect((await call('key-of-both', 'one')).status).toBe(202)
    expect((await call('key-of-both', 'other')).status).toBe(202)
  })
})

test('a key expires after 24 hours; the same request then runs again', async () => {
  const request = { url: '/v1/licenses', body: { productId: 'editor' } }
  const key = newKey()
  const first = await send(request, key)
  api.ledger.clock.advance(86_400_000 - 1)
  expect(whole(await send(request, key))).toStrictEqual(whole(first))
  api.ledger.clock.advance(1)
  const anew = await send(request, key)
  expect(anew.status).toBe(201)
  expect(isReplay(anew)).toBeUndefined()
  expect(LicenseKey.parse(anew.body).licenseKey).not.toBe(LicenseKey.parse(first.body).licenseKey)
  api.ledger.clock.set(beginning)
})

test('a request without the header stores nothing', async () => {
  const count = async () => {
    const { rows } = await api.ledger.db.query<{ count: bigint }>('select count(*) from vault.idempotency')
    return rows[0]?.count
  }
  const before = await count()
  const { id } = await seated()
  await api.ask('POST', `/v1/licenses/${id}/remint`, { token: tenant.token })
  expect(await count()).toBe(before)
})
