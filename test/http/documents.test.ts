/**
 * Guarantee: public documents are cheap to serve and rate limited by address; the metrics can only be read with their
 * token.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Limiter } from '../../src/limits/limiter.ts'
import { askOf, createTestApp, metricsToken, openTestApi, type TestApi } from '../harness/api.ts'
import { createMemoryLimiter } from '../limits/memory-buckets.ts'

let api: TestApi
const limiters: Limiter[] = []
beforeAll(async () => {
  api = await openTestApi()
})
afterEach(async () => {
  for (const limiter of limiters.splice(0)) await limiter.stop()
})
afterAll(() => api.close())

const described = ['/v1/openapi.json', '/docs/json', '/docs/yaml']

test.each(described)('%s is serialized once, and returns 304 for a matching ETag', async (url) => {
  const app = await createTestApp(api.ledger, api.ledger.ports)
  const made = vi.spyOn(app, 'swagger')
  const first = await app.inject({ url })
  const second = await app.inject({ url })
  expect(first.statusCode).toBe(200)
  expect(second.rawPayload.equals(first.rawPayload)).toBe(true)
  const etag = first.headers.etag ?? ''
  expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
  const has = await app.inject({ url, headers: { 'if-none-match': `W/${etag}` } })
  expect({ status: has.statusCode, body: has.body, etag: has.headers.etag }).toStrictEqual({
    status: 304,
    body: '',
    etag,
  })
  const other = await app.inject({ url, headers: { 'if-none-match': '"another"' } })
  expect(other.statusCode).toBe(200)
  expect(made.mock.calls.length).toBe(1)
  await app.close()
})

test('an address has one rate limit for all documents, which does not affect other addresses', async () => {
  const documents = createMemoryLimiter('documents', { perMinute: 6, burst: 6 }, () => 0)
  limiters.push(documents)
  const app = await createTestApp(api.ledger, api.ledger.ports, { limits: { documents } })
  const paths = [...described, '/docs/', '/docs/static/swagger-ui.css', '/metrics']
  const from = (remoteAddress: string) => async (url: string) =>
    (await app.inject({ url, remoteAddress, headers: { authorization: `Bearer ${metricsToken}` } }))
      .statusCode
  const read = from('198.51.100.1')
  for (const path of paths) expect({ path, status: await read(path) }).toStrictEqual({ path, status: 200 })
  for (const path of paths) expect({ path, status: await read(path) }).toStrictEqual({ path, status: 429 })
  expect(await read('/livez')).toBe(200)
  expect(await from('198.51.100.2')('/metrics')).toBe(200)
  await app.close()
})

describe('GET /metrics', () => {
  test('returns the metrics with the token', async () => {
    const { status, text } = await api.ask('GET', '/metrics', { token: metricsToken })
    expect(status).toBe(200)
    expect(text).toContain('keyledger_request_duration_seconds')
  })

  test.each([undefined, '', 'metrics-token-of-the-test', `${metricsToken}x`])(
    'returns 401 with the token %j',
    async (token) => {
      const { status, body, headers } = await api.ask('GET', '/metrics', { token })
      expect({ status, body }).toStrictEqual({
        status: 401,
        body: { error: 'send the metrics token: Authorization: Bearer <token>' },
      })
      expect(headers['www-authenticate']).toBe('Bearer')
    },
  )

  test('returns 404 when no token is configured', async () => {
    const app = await createTestApp(api.ledger, api.ledger.ports, { metrics: false })
    for (const token of [undefined, '', metricsToken, 'undefined']) {
      expect((await askOf(app)('GET', '/metrics', { token })).status).toBe(404)
    }
    await app.close()
  })
})
