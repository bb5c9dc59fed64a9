/**
 * Guarantee: requests over a limit get 429 with Retry-After, in the error format of the interface, after the token
 * is known and before anything else is looked up. Each token and each tenant has its own limit.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Limits } from '../../src/limits/limits.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { createMemoryLimiter } from '../limits/memory-buckets.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let now = Date.parse('2026-03-01T12:00:00.000Z')
const taken: string[] = []

function smallLimits(): Limits {
  const limiter = (name: string, perMinute: number, burst: number) => {
    const real = createMemoryLimiter(name, { perMinute, burst }, () => now)
    return {
      ...real,
      take: (key: string) => {
        taken.push(`${name} ${key}`)
        return real.take(key)
      },
    }
  }
  return {
    management: limiter('management', 20, 5),
    runtime: limiter('runtime', 60, 3),
    evidence: limiter('evidence', 12, 1),
  }
}

const limits = smallLimits()
beforeAll(async () => {
  api = await openTestApi({ limits })
})
afterAll(async () => {
  await limits.management?.stop()
  await limits.runtime?.stop()
  await limits.evidence?.stop()
  await api.close()
})

const answered = ({ status, body, headers }: Answer) => ({
  status,
  body,
  retryAfter: headers['retry-after'],
})
const list = (token: string) => api.ask('GET', '/v1/products', { token })
const validate = (token: string, raw?: string) =>
  api.ask('POST', '/v1/licenses/validate', {
    token,
    ...(raw === undefined ? { body: { product_id: 'editor', license_key: 'nothing' } } : { raw }),
  })
const exhaust = async (tenant: TestTenant) => {
  for (let calls = 0; calls < 5; calls++) expect((await list(tenant.token)).status).toBe(200)
}

test('a refusal is held back, so that a caller who asks again at once gets few of them', async () => {
  const tenant = await makeTenant(api.ledger)
  await exhaust(tenant)
  const began = performance.now()
  expect((await list(tenant.token)).status).toBe(429)
  expect(performance.now() - began).toBeGreaterThan(90)
})

test('a token over its limit gets 429, and is admitted after Retry-After', async () => {
  const tenant = await makeTenant(api.ledger)
  await exhaust(tenant)
  expect(answered(await list(tenant.token))).toStrictEqual({
    status: 429,
    body: { error: 'too many requests; try again in 3 seconds' },
    retryAfter: '3',
  })
  now += 2500
  expect(answered(await list(tenant.token))).toMatchObject({ status: 429, retryAfter: '1' })
  now += 500
  expect((await list(tenant.token)).status).toBe(200)
  expect((await list(tenant.token)).status).toBe(429)
})

test('every response has the RateLimit headers', async () => {
  const tenant = await makeTenant(api.ledger)
  const left = async () => {
    const { status, headers } = await list(tenant.token)
    return [status, ...['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`])]
  }
  expect(await left()).toStrictEqual([200, '5', '4', '3'])
  expect(await left()).toStrictEqual([200, '5', '3', '6'])
  now += 4500
  expect(await left()).toStrictEqual([200, '5', '3', '5'])
  for (let calls = 0; calls < 3; calls++) await left()
  expect(await left()).toStrictEqual([429, '5', '0', '14'])
  const lacking = await tenant.tokenWith('usage:read')
  expect((await list(lacking)).headers).toMatchObject({ 'ratelimit-remaining': '4' })
  const token = await tenant.tokenWith('licenses:runtime')
  expect((await validate(token)).headers).toMatchObject({
    'ratelimit-limit': '3',
    'ratelimit-remaining': '2',
    'ratelimit-reset': '1',
  })
})

test('the limit is checked before the scope, the body and the path', async () => {
  const tenant = await makeTenant(api.ledger)
  const token = await tenant.tokenWith('usage:read')
  for (let calls = 0; calls < 5; calls++) expect((await list(token)).status).toBe(403)
  expect((await list(token)).status).toBe(429)
  const answer = await api.ask('POST', '/v1/products', { token, raw: '{malformed' })
  expect(answer.status).toBe(429)
  expect((await api.ask('GET', '/v1/licenses/lic_absent', { token })).status).toBe(429)
})

test('each token has its own limit', async () => {
  const tenant = await makeTenant(api.ledger)
  await exhaust(tenant)
  expect((await list(tenant.token)).status).toBe(429)
  expect((await list(await tenant.tokenWith('products:read'))).status).toBe(200)
})

test('runtime calls have a limit per tenant, separate from management calls, with their own error format', async () => {
  const tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  const tokens = [tenant.token, await tenant.tokenWith('licenses:runtime')]
  for (let calls = 0; calls < 3; calls++) {
    expect((await validate(tokens[calls % 2] ?? '')).status).toBe(200)
  }
  for (const token of tokens) {
    expect(answered(await validate(token, '{malformed'))).toStrictEqual({
      status: 429,
      body: { error: { code: 'rate_limited', message: 'too many requests; try again in 1 second' } },
      retryAfter: '1',
    })
  }
  expect((await list(tenant.token)).status).toBe(200)
  const other = await makeTenant(api.ledger)
  expect((await validate(other.token)).status).toBe(404)
})

test('a caller without a valid token always gets 401, and no bucket is created', async () => {
  const before = taken.length
  const bogus = `kl_pat_${'0'.repeat(38)}`
  for (let calls = 0; calls < 20; calls++) {
    expect((await list(bogus)).status).toBe(401)
    expect((await api.ask('POST', '/v1/licenses/validate', { raw: '{malformed' })).status).toBe(401)
  }
  for (let calls = 0; calls < 10; calls++) {
    expect((await api.ask('GET', '/v1/openapi.json')).status).toBe(200)
  }
  expect(taken.length).toBe(before)
})

test('archives of evidence have a limit of their own, which the tokens of a tenant share', async () => {
  const tenant = await makeTenant(api.ledger)
  const url = '/v1/licenses/lic_00000000000000000000000000/evidence'
  expect((await api.ask('GET', url, { token: tenant.token })).status).toBe(404)
  expect(answered(await api.ask('GET', url, { token: tenant.token }))).toMatchObject({
    status: 429,
    retryAfter: '5',
  })
  expect((await list(tenant.token)).status).toBe(200)
})
