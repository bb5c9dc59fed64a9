/**
 * Guarantee: a body costs little before its caller is known: it is short, not deep, and has few fields, or it is refused before
 * anything is built of it, with a short message.
 */
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { deepestJson, sizeOfJson } from '../../src/domain/json-bounds.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const unknown = (count: number): string =>
  JSON.stringify({
    ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, 0])),
    productId: 'editor',
  })
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const send = async (url: string, raw: string, token: string | undefined = tenant.token) => {
  const { status, text } = await api.ask('POST', url, { token, raw })
  return { status, error: z.object({ error: z.unknown() }).parse(JSON.parse(text)).error, text }
}

test('many unknown fields get the names of the first', async () => {
  expect(await send('/v1/licenses', unknown(900))).toMatchObject({
    status: 400,
    error: expect.stringMatching(
      /^unknown fields "x0", "x1", "x2" and 897 more; known are productId, /,
    ) as string,
  })
  expect(await send('/v1/licenses', unknown(60_000))).toMatchObject({
    status: 400,
    error: 'the body has too many fields, "x0", "x1", "x2" and 59,998 more; send at most 1,000',
  })
})

test.each([
  [{}, '{"name":', 'the body is not valid JSON; check its quotes, commas and brackets'],
  [{}, '{"__proto__":1}', 'the body is not valid JSON; check its quotes, commas and brackets'],
  [
    { 'content-type': 'text/xml' },
    '<name/>',
    'send the body as JSON, with the header Content-Type: application/json',
  ],
  [{ 'content-length': '400' }, '{"name":"A"}', 'the body is not as long as the header Content-Length says'],
])('a body that cannot be read gets a sentence of ours: %j %s', async (headers, raw, error) => {
  const answer = await api.ask('POST', '/v1/products', { token: tenant.token, raw, headers })
  expect(answer).toMatchObject({ status: 400, body: { error } })
  expect(answer.headers['error-code']).toBe('validation_failed')
})

test('so does a path that is no URL', async () => {
  const { status, body } = await api.ask('GET', '/v1/licenses/%ff', { token: tenant.token })
  expect({ status, body }).toStrictEqual({
    status: 400,
    body: { error: 'the path is not a valid URL; encode each % as %25' },
  })
})

test('a deep body is refused, and one that is not is validated', async () => {
  const tooDeep = `the body has more than ${deepestJson} levels of arrays and objects; send fewer`
  for (const levels of [deepestJson + 1, 100_000])
    expect(await send('/v1/licenses', deep(levels))).toMatchObject({ status: 400, error: tooDeep })
  expect(await send('/v1/licenses', deep(deepestJson))).toMatchObject({
    status: 400,
    error: 'the body must be an object',
  })
})

describe('a body of a caller who is not known', () => {
  const long = JSON.stringify({ license_key: 'x'.repeat(9000) })

  test.each(['/v1/login/device', '/v1/licenses/validate', '/acme/editor/activate', '/acme/editor/keyless'])(
    'is short on %s',
    async (url) => {
      // The second one does not say how long it is.
      for (const payload of [long, Readable.from([long.slice(0, 5000), long.slice(5000)])]) {
        const { statusCode, body } = await api.app.inject({
          method: 'POST',
          url,
          headers: { 'content-type': 'application/json', authorization: `Bearer ${tenant.token}` },
          payload,
        })
        expect(statusCode).toBeOneOf([400, 401])
        // The device login says no more than this code.
        if (statusCode === 400) expect(body).toMatch(/the body is too large|^\{"error":"invalid_request"\}$/)
      }
    },
  )

  test('is refused without a look-up when it says that it is too long, and its connection ends', async () => {
    const query = vi.spyOn(api.ledger.db, 'query')
    for (const url of ['/v1/login/device', '/v1/login/device/token', '/acme/editor/activate']) {
      const headers = { 'content-type': 'application/json', 'x-service-sdk-key': 'kl_sdk_unknown' }
      const answer = await api.app.inject({ method: 'POST', url, headers, payload: long })
      expect([url, answer.statusCode, answer.headers.connection]).toStrictEqual([url, 400, 'close'])
    }
    expect(query).not.toHaveBeenCalled()
    query.mockRestore()
  })

  test('is not parsed where no route is', async () => {
    for (const [method, url, status] of [
      ['POST', '/no/such/path', 404],
      ['PUT', '/v1/licenses', 405],
      ['POST', '/dashboard/no-such-page', 404],
      ['POST', '/portal/acme/no-such-page', 404],
      ['PATCH', '/v1/licenses/validate', 405],
    ] as const) {
      const { statusCode } = await api.app.inject({
        method,
        url,
        headers: { 'content-type': 'application/json' },
        payload: '{"broken',
      })
      expect([url, statusCode]).toStrictEqual([url, status])
    }
  })
})

test('the scan counts what is outside of strings', () => {
  expect(sizeOfJson(String.raw`{"a:{[":"\\\"}]:","b":[{"c":1}]}`)).toStrictEqual({
    tooDeep: false,
    fields: 3,
    first: ['a:{[', 'b', 'c'],
  })
  expect(sizeOfJson('{"a').fields).toBe(0)
})
